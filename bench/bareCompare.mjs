// What comparing is measured beside: the least that a database can do, one merge join of both sides
// with a table of what differs, and what a user would write, a script with a Map. Both know nothing
// of refunds, waiting, tolerance, transactions, second entries, or of what was not looked at.

/** Where the bare sides write what differs: durable and with a key, as the verdicts are. */
export const BARE_TABLE = `
  create schema bare;
  create table bare.verdicts (account_id text collate "C", order_no text collate "C", kind text,
    expected text, ledger_currency text, ledger_amount numeric(20, 2), transaction_id text,
    state text, currency text, amount numeric(20, 2), payment_status text,
    primary key (account_id, order_no))`;

/** Without the entries beside the one asked for, which no index has in one order with the others. */
const MERGE = `
  insert into bare.verdicts
  select coalesce(l.account_id, g.account_id), coalesce(l.order_no, g.order_no),
    case when g.order_no is null then 'missing_at_gateway'
      when l.order_no is null then 'missing_in_ledger'
      when l.currency <> g.currency then 'currency' when l.amount <> g.amount then 'amount'
      else 'state' end,
    l.expected, l.currency, l.amount, g.transaction_id, g.state, g.currency, g.amount,
    g.payment_status
  from (select * from tieout.asked_orders where pull_id = $1) l
  full join (select * from tieout.look_entries where pull_id = $1 and not is_extra) g
    using (account_id, order_no)
  where l.order_no is null or g.order_no is null or l.amount <> g.amount
    or l.currency <> g.currency or l.expected <> g.state`;

export async function compareByMerge(tx, { pullId }) {
  await tx.query('set local enable_hashjoin = off; set local enable_sort = off');
  await tx.query(MERGE.replaceAll('$1', String(pullId)));
}

/** What a user would write: the columns that are compared, both sides in memory, one Map. */
export async function compareByMap(tx, { pullId }) {
  const ledger = await tx.query(
    `select account_id, order_no, currency, amount, expected from tieout.asked_orders
     where pull_id = $1`,
    [pullId],
  );
  const shown = await tx.query(
    `select account_id, order_no, transaction_id, currency, amount, state, payment_status
     from tieout.look_entries where pull_id = $1 and not is_extra`,
    [pullId],
  );
  const byOrder = new Map(shown.rows.map((row) => [`${row.account_id}|${row.order_no}`, row]));
  const rows = [];
  for (const row of ledger.rows) {
    const entry = byOrder.get(`${row.account_id}|${row.order_no}`);
    byOrder.delete(`${row.account_id}|${row.order_no}`);
    const kind = differenceOf(row, entry);
    if (kind !== null) rows.push(bareRow(kind, row, entry));
  }
  for (const entry of byOrder.values()) rows.push(bareRow('missing_in_ledger', null, entry));
  for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
    await insertBare(tx, rows.slice(at, at + ROWS_A_STATEMENT));
  }
}

const ROWS_A_STATEMENT = 1_000;

function differenceOf(row, entry) {
  if (!entry) return 'missing_at_gateway';
  if (entry.currency !== row.currency) return 'currency';
  if (entry.amount !== row.amount) return 'amount';
  return entry.state === row.expected ? null : 'state';
}

function bareRow(kind, row, entry) {
  const { account_id: accountId, order_no: orderNo } = row ?? entry;
  const asked = [row?.expected, row?.currency, row?.amount];
  const told = [entry?.transaction_id, entry?.state, entry?.currency, entry?.amount];
  return [accountId, orderNo, kind, ...asked, ...told, entry?.payment_status];
}

async function insertBare(tx, rows) {
  const marks = rows.map(
    (row, at) => `(${row.map((_, column) => `$${at * row.length + column + 1}`).join()})`,
  );
  await tx.query(`insert into bare.verdicts values ${marks.join()}`, rows.flat());
}
