// The dependencies of tieout's steps with a scheduler at every seam: the same database, the same
// code that writes and reads messages, and a gateway in memory behind it.

const ROLL_BACK = new Error('died before COMMIT');

/** One transaction at a time: what could be shared out among several is done by one. */
const NO_ROOM = { totalCount: 0, idleCount: 0, waitingCount: 0, options: { max: 0 } };

/** What a statement is, by the tables that it writes. */
const MARKS = [
  [/\binto tieout\.attempts\b/, 'claim'],
  [/\bupdate tieout\.attempts\b/, 'record of the outcome'],
  [/\binto tieout\.answers\b/, 'storing of the answer'],
  [/state = 'withdrawn'/, 'withdrawal'],
  [/\b(insert into|update|delete from)\b/i, 'other write'],
];

function markOf(texts) {
  for (const [pattern, name] of MARKS) if (texts.some((text) => pattern.test(text))) return name;
  return null;
}

/** `step(name, perform)`: perform(where, isBefore) may be begun, rolled back, or lost. */
export function seamedDatabase(db, step) {
  const note = (where, texts) => {
    const mark = markOf(texts);
    where.name = mark ?? 'reading';
    where.isWrite = mark !== null;
  };
  const query = (text, ...more) =>
    step('statement', (where, isBefore) => {
      note(where, [text]);
      return isBefore ? undefined : db.query(text, ...more);
    });
  const inTransaction = (begin) => (work) =>
    step('transaction', (where, isBefore) => {
      const texts = [];
      return begin(async (tx) => {
        const result = await work(watchedBy(tx, texts));
        if (isBefore) throw ROLL_BACK;
        return result;
      })
        .catch((error) => {
          if (error !== ROLL_BACK) throw error;
        })
        .finally(() => note(where, texts));
    });
  const { transaction, durably } = db;
  return {
    ...db,
    pool: NO_ROOM,
    query,
    transaction: inTransaction(transaction),
    durably: inTransaction(durably),
    guardedBy: (guard) => seamedDatabase(db.guardedBy(guard), step),
  };
}

function watchedBy(tx, texts) {
  const query = (text, ...more) => {
    texts.push(text);
    return tx.query(text, ...more);
  };
  return { ...tx, query };
}

/** The query half of a gateway client: real messages over a wire in memory. */
export function memoryQueries({ program, profile, gateway, troubleOf, oddly = (page) => page }) {
  const transport = {
    async post({ body }) {
      const fields = Object.fromEntries(new URLSearchParams(body.toString('utf8')));
      const trouble = troubleOf(fields.account_id);
      if (trouble === 'fails') return { kind: 'failed', reason: 'reset', reachable: true };
      const orderNos = fields[profile.query.orderList.field].split(
        profile.query.orderList.separator,
      );
      const truth = gateway.query(fields.account_id, orderNos, trouble === 'stale');
      const page = trouble === 'odd' ? oddly(truth, fields.account_id) : truth;
      return {
        kind: 'answered',
        status: 200,
        contentType: 'application/json',
        contentEncoding: null,
        body: Buffer.from(JSON.stringify(page)),
      };
    },
  };
  const ask = (account, selection) =>
    program.query.query({ profile, transport }, account, selection);
  return {
    queryPage: ask,
    query: (account, orderNos) => ask(account, { kind: 'orders', orderNos }),
  };
}
