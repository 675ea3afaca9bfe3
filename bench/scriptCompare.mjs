// What a user would write to get what tieout's compare gives: everything that bears on a verdict in
// memory, one Map, one order after the other, then the same verdicts, breaks and events in the same
// tables. It may use the program's own readable rules (core/orders/decideVerdict.ts), which a user would have to
// write first, and asks them only where an order does not match by the fast match. It knows neither of
// breaks from earlier nights nor how to resume, and holds all orders in memory at once.

import { createHash } from 'node:crypto';
import { parseAmount } from '../dist/src/core/money.js';
import { decideOrder } from '../dist/src/core/orders/decideVerdict.js';

const ROWS_A_STATEMENT = 1_000;

/** `rules` as core/orders/decideVerdict.ts takes them. */
export async function compareByScript(tx, { runId, pullId }, rules) {
  const sides = await read(tx, pullId);
  const verdicts = [];
  for (const row of sides.ledger) {
    const entries = sides.entries.get(keyOf(row)) ?? [];
    const refunds = sides.refunds.get(keyOf(row)) ?? [];
    const hasSnapshot = sides.answered.has(`${row.account_id}|${row.page_no}`);
    if (hasSnapshot && isPlain(row, entries, refunds, rules)) continue;
    const judged = judge(row, { entries, refunds, hasSnapshot }, rules);
    if (judged !== null) verdicts.push({ ...judged, runId, pullId, row });
  }
  await insert(tx, 'tieout.verdicts', VERDICT_COLUMNS, verdicts.map(verdictRow));
  await openBreaks(tx, verdicts.flatMap(breaksOf));
  return verdicts.length;
}

async function read(tx, pullId) {
  const all = async (what, from) =>
    (await tx.query(`select ${what} from ${from} where pull_id = $1`, [pullId])).rows;
  const ledger = await all(
    `account_id, order_no, page_no, in_ledger, currency, amount, expected, transaction_id,
     capture_amount, review_decision, placed_at, ledger_problem`,
    'tieout.asked_orders',
  );
  const entries = await all(
    `account_id, order_no, transaction_id, currency, amount, amount_text, state, payment_status,
     found, query_result, transaction_at`,
    'tieout.look_entries',
  );
  const refunds = await all(
    'account_id, order_no, refund_id, refund_amount, requested_at',
    'tieout.asked_refunds',
  );
  const pages = await all('account_id, page_no, state', 'tieout.pages');
  const answered = pages.filter((page) => page.state === 'answered');
  return {
    ledger,
    entries: byOrder(entries),
    refunds: byOrder(refunds),
    answered: new Set(answered.map((page) => `${page.account_id}|${page.page_no}`)),
  };
}

function keyOf(row) {
  return `${row.account_id}|${row.order_no}`;
}

function byOrder(rows) {
  const found = new Map();
  for (const row of rows) {
    const list = found.get(keyOf(row));
    if (list === undefined) found.set(keyOf(row), [row]);
    else list.push(row);
  }
  return found;
}

/** One entry that is equal in all that counts, and nothing asked to be refunded. */
function isPlain(row, entries, refunds, { asOf, staleMs }) {
  const [entry] = entries;
  return (
    entries.length === 1 &&
    refunds.length === 0 &&
    row.in_ledger &&
    row.ledger_problem === null &&
    entry.found &&
    entry.payment_status !== null &&
    entry.amount === row.amount &&
    entry.currency === row.currency &&
    entry.state === row.expected &&
    (row.transaction_id === null || row.transaction_id === entry.transaction_id) &&
    (entry.state !== 'authorised' || asOf - (entry.transaction_at ?? row.placed_at) <= staleMs)
  );
}

/** Null: matched. */
function judge(row, { entries, refunds, hasSnapshot }, rules) {
  const distinct = [...new Map(entries.map((one) => [JSON.stringify(one), one])).values()];
  const ids = new Set(distinct.map((one) => one.transaction_id));
  const facts = distinct.map(entryFacts);
  const verdict = decideOrder(
    {
      ledger: row.in_ledger ? ledgerFacts(row) : null,
      hasSnapshot,
      entries: facts,
      contradictory: ids.size < distinct.length,
      refunds: refunds.map((one) => ({
        refundId: one.refund_id,
        amount: parseAmount(one.refund_amount),
        requestedAt: one.requested_at,
      })),
      instructions: [],
    },
    rules,
  );
  const { notCompared, kinds, need, awaited, tolerated } = verdict;
  if (!notCompared && kinds.length === 0 && !need && !awaited && !tolerated) return null;
  const entry = distinct[facts.indexOf(verdict.transaction ?? facts[0])];
  const done = refunds.filter((one) => one.requested_at < rules.liveFrom);
  const explained = done.reduce((sum, one) => sum + parseAmount(one.refund_amount), 0n);
  return { verdict, entry, distinct, explained, requests: requestsOf(refunds) };
}

function ledgerFacts(row) {
  return {
    isUsable: row.ledger_problem === null,
    expected: row.expected,
    currency: row.currency,
    amount: row.amount === null ? null : parseAmount(row.amount),
    captureAmount: row.capture_amount === null ? null : parseAmount(row.capture_amount),
    transactionId: row.transaction_id,
    reviewDecision: row.review_decision,
    placedAt: row.placed_at,
  };
}

function entryFacts(entry) {
  return {
    transactionId: entry.transaction_id,
    currency: entry.currency,
    amount: entry.amount === null ? null : parseAmount(entry.amount),
    paymentStatus: entry.payment_status,
    state: entry.state,
    found: entry.found,
    transactionAt: entry.transaction_at,
  };
}

function requestsOf(refunds) {
  if (refunds.length === 0) return null;
  const texts = refunds.map((one) => `${one.refund_id} ${one.refund_amount}`).sort();
  return createHash('md5').update(texts.join()).digest('hex');
}

const VERDICT_COLUMNS = `run_id, account_id, order_no, pull_id, in_ledger, not_compared, kinds,
  need, awaited, tolerated, transaction_id, gateway_state, gateway_currency, gateway_amount,
  gateway_amount_text, payment_status, ledger_problem, expected, ledger_currency, ledger_amount,
  need_amount, refund_id, refund_amount, completes, review_decision, requests`;

function verdictRow({ verdict, entry, explained, requests, runId, pullId, row }) {
  const { need } = verdict;
  const refund = need?.refundId ? need.refundAmount : null;
  return [
    ...[runId, row.account_id, row.order_no, pullId, row.in_ledger, verdict.notCompared],
    ...[verdict.kinds, need?.operation, verdict.awaited, verdict.tolerated],
    ...[entry?.transaction_id, entry?.state, entry?.currency, entry?.amount, entry?.amount_text],
    ...[entry?.payment_status, row.ledger_problem, row.expected, row.currency, row.amount],
    ...[need === null ? null : decimal(need.amount), need?.refundId],
    ...(refund === null ? [null, null] : [decimal(refund), explained + refund === need.amount]),
    ...[need?.reviewDecision, requests],
  ];
}

function decimal(hundredths) {
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
}

function breaksOf({ verdict, entry, distinct, requests, runId, row }) {
  const candidates = (kind) =>
    kind === 'duplicate_transaction' || kind === 'transaction_mismatch' ? distinct : undefined;
  return verdict.kinds.map((kind) => {
    const expected = JSON.stringify({
      ...{ state: row.expected ?? undefined, currency: row.currency ?? undefined },
      ...{ amount: row.amount ?? undefined, problem: row.ledger_problem ?? undefined },
    });
    const actual = JSON.stringify({
      ...{ state: entry?.state, code: entry?.payment_status, currency: entry?.currency },
      ...{ amount: entry?.amount, transaction: entry?.transaction_id },
      candidates: candidates(kind),
    });
    const fingerprint = createHash('md5')
      .update(expected + actual + (requests ?? ''))
      .digest('hex');
    const isForeign = kind === 'currency_mismatch';
    const currency = isForeign ? entry.currency : (row.currency ?? entry?.currency);
    const money = [currency, atStake(kind, row, entry)];
    const key = [row.account_id, row.order_no, kind];
    return { runId, key, expected, actual, fingerprint, money };
  });
}

function atStake(kind, row, entry) {
  // In two currencies what the gateway took is at stake, and their difference is no money.
  if (kind === 'currency_mismatch') return entry.amount;
  if (kind !== 'amount_mismatch') return row.amount ?? entry?.amount;
  if (entry.currency !== row.currency) return undefined;
  const difference = parseAmount(entry.amount) - parseAmount(row.amount);
  return decimal(difference < 0n ? -difference : difference);
}

async function openBreaks(tx, breaks) {
  const now = new Date();
  const ids = await insert(
    tx,
    'tieout.breaks',
    `account_id, order_no, kind, state, first_seen, first_run_id, last_run_id, expected, actual,
     fingerprint, currency, amount`,
    breaks.map(({ runId, key, expected, actual, fingerprint, money }) => [
      ...[...key, 'open', now, runId, runId, expected, actual, fingerprint, ...money],
    ]),
    'returning break_id',
  );
  await insert(
    tx,
    'tieout.break_events',
    'break_id, run_id, at, event, by, currency, amount, expected, actual',
    breaks.map(({ runId, expected, actual, money }, at) => [
      ...[ids[at].break_id, runId, now, 'opened', 'tieout', ...money, expected, actual],
    ]),
  );
}

/** So many rows a statement; answers what it returns. */
async function insert(tx, table, columns, rows, returning = '') {
  const answers = [];
  for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
    const some = rows.slice(at, at + ROWS_A_STATEMENT);
    const marks = some.map(
      (row, index) => `(${row.map((_, column) => `$${index * row.length + column + 1}`).join()})`,
    );
    const text = `insert into ${table} (${columns}) values ${marks.join()} ${returning}`;
    answers.push(...(await tx.query(text, some.flat())).rows);
  }
  return answers;
}

/** What became of a compare, as one text; of either side. */
export async function verdictsOf(tx, runId) {
  const { rows } = await tx.query(
    `select count(*) || ' verdicts ' || md5(string_agg(concat_ws(' ', account_id, order_no,
         not_compared, kinds, need, need_amount, refund_id, awaited, tolerated, transaction_id,
         gateway_state, completes, requests), ',' order by account_id, order_no)) as text
     from tieout.verdicts where run_id = $1`,
    [runId],
  );
  const { rows: breaks } = await tx.query(
    `select count(*) || ' breaks ' || coalesce(md5(string_agg(concat_ws(' ', account_id, order_no,
         kind, currency, amount), ',' order by account_id, order_no, kind)), '') as text
     from tieout.breaks where first_run_id = $1`,
    [runId],
  );
  return `${rows[0].text} ${breaks[0].text}`;
}
