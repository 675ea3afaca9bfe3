// Reads the books of tieout out of its database with queries of its own, in one snapshot, and the
// journal of the gateway from its file or address. The driver is all that it has in common with
// tieout. Neighbour: audit.mjs is the program.

import { readFileSync } from 'node:fs';

/** The facts about money as they are digested: their fields in order, as one row of text. */
const SEALED = `
  select 'instruction' as what, i.account_id, e.link_id::text, e.seq::text as pos,
    row(e.seq, e.instruction_id, e.from_state, e.to_state, extract(epoch from e.at), e.by, e.reason,
      i.run_id, i.order_no, i.operation, i.transaction_id, i.currency, i.amount, i.refund_id,
      i.refund_amount, i.review_decision)::text as line
  from tieout.instruction_events e join tieout.instructions i using (instruction_id)
  where e.link_id is not null
  union all
  select 'attempt', account_id, link_id::text, '0',
    row(attempt_id, batch_id, attempt_no, entries, body_sha256, host, boot_id, pid, process_started,
      extract(epoch from claimed_at), outcome, extract(epoch from finished_at), reason,
      encode(sha256(request_gzip), 'hex'))::text
  from tieout.attempts where link_id is not null
  union all
  select 'answer', t.account_id, a.link_id::text, '0',
    row(a.attempt_id, extract(epoch from a.received_at), a.http_status, a.content_type,
      a.content_encoding, a.body_sha256, encode(sha256(a.body), 'hex'))::text
  from tieout.answers a join tieout.attempts t using (attempt_id) where a.link_id is not null
  union all
  select 'decision', account_id, link_id::text, decision_id::text,
    row(decision_id, instruction_id, decision, extract(epoch from at), decided_by, is_claim, reason,
      reference, finding, seen, seen_sha256, row_before, extract(epoch from expires_at))::text
  from tieout.decisions where link_id is not null`;

/** On which accounts a run worked when it was added up, whoever took it, and left it, afterwards. */
const WORKED_ON = `coalesce((
    select case when exists (select from tieout.run_settings later
        where later.run_id = runs.run_id and later.at > s.at and later.at > summed.at)
      then array(select a ->> 'accountId' from jsonb_array_elements(s.settings -> 'accounts') a)
      else runs.runner_accounts end
    from (select max(at) as at from tieout.workings w
      where w.run_id = runs.run_id and w.kind = 'total') summed
    join tieout.run_settings s on s.run_id = runs.run_id and s.at <= summed.at
    order by s.at desc limit 1), runner_accounts)`;

const TABLES = {
  links: `select account_id, link_no::text, link_id::text, to_char(business_date, 'YYYY-MM-DD') as day,
    what, facts::text, facts_sha256, previous_sha256, sha256
    from tieout.chain_links order by account_id, chain_links.link_no`,
  heads: `select account_id, link_no::text, sha256 from tieout.chain_heads`,
  sealed: SEALED,
  orders: `select account_id, order_no, currency, amount::text, expected, transaction_id
    from ledger.orders`,
  requests: `select account_id, refund_id, order_no, refund_amount::text
    from ledger.refund_requests`,
  payouts: `select account_id, request_id::text from ledger.payout_requests`,
  instructions: `select instruction_id::text as id, run_id::text, account_id, order_no, operation,
    transaction_id, currency, amount::text, refund_id, refund_amount::text, state, is_disputed,
    settled_run_id::text, hold_reason from tieout.instructions order by instruction_id`,
  events: `select seq::int, instruction_id::text as id, from_state as from, to_state as to, reason,
    to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
    extract(epoch from at)::float8 as moment from tieout.instruction_events order by seq`,
  approvals: `select instruction_id::text as id, extract(epoch from at)::float8 as approved
    from tieout.decisions where decision = 'approve' order by decision_id`,
  attempts: `select attempt_id::text, batch_id::text, account_id, entries, body_sha256,
    to_char(claimed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as claimed_at, outcome,
    extract(epoch from claimed_at)::float8 as claimed from tieout.attempts order by claimed_at`,
  answers: `select attempt_id::text, body, body_sha256 from tieout.answers`,
  breaks: `select account_id, order_no, kind, state from tieout.breaks`,
  runs: `select run_id::text, business_date::text, state, summary, failure,
    runner_id is not null as is_worked_on, ${WORKED_ON} as worked_on,
    (select to_char(max(at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      from tieout.run_ends e where e.run_id = runs.run_id) as ended_at,
    (select to_char(max(as_of) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      from tieout.pulls p where p.run_id = runs.run_id and kind <> 'fresh') as looked_at
    from tieout.runs where not is_dry order by runs.run_id`,
  ends: `select run_id::text, state, summary, extract(epoch from at)::float8 as moment
    from tieout.run_ends order by end_id`,
  summings: `select run_id::text, last_instruction_event::int as seq,
    extract(epoch from at)::float8 as moment from tieout.workings where kind = 'total'
    order by working_id`,
  movements: `select account_id, order_no, transaction_id, kind, currency, amount::text, made
    from tieout.movements_now`,
  bookLooks: `select e.account_id, e.order_no,
    to_char(max(p.as_of) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as seen_at
    from tieout.pulls p join tieout.look_entries e using (pull_id)
    where p.kind <> 'fresh' and p.finished_at is not null and p.run_id = (
        select run_id from tieout.runs
        where not is_dry and finished_at is not null and state in ('tied_out', 'broken', 'incomplete')
          and business_date = (select max(business_date) from tieout.runs where not is_dry))
      and e.account_id in (select account_id from tieout.movement_books)
    group by 1, 2
    having bool_and(e.found and e.state is not null and e.amount > 0 and not e.is_extra)`,
  calls: `select account_id, operation, encode(body_sha256, 'hex') as body_sha256, outcome, permit_id,
    extract(epoch from at)::float8 as called,
    to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as called_at
    from tieout.gateway_calls order by call_id`,
};

/** Everything at one moment; `client` is a connected client of the driver. */
export async function readDatabase(client) {
  await client.query('begin isolation level repeatable read read only');
  try {
    const books = {};
    for (const [name, query] of Object.entries(TABLES)) {
      books[name] = (await client.query(query)).rows;
    }
    return books;
  } finally {
    await client.query('rollback');
  }
}

/** One JSON object a line. */
export function readLines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const MOVES = new Set(['capture', 'cancel', 'refund', 'review', 'payout']);

/** What really moved at a sandbox gateway, and its transactions as they stand. */
export async function readGateway(baseUrl, journalFile) {
  const effects =
    journalFile === null
      ? await (await fetch(`${baseUrl}/_sandbox/effects`)).json()
      : readLines(journalFile);
  const text = await (await fetch(`${baseUrl}/_sandbox/orders`)).text();
  const orders = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return {
    effects: effects.filter(({ operation }) => MOVES.has(operation)),
    transactions: orders.flatMap(({ account_id, order_no, transactions }) =>
      transactions.map((one) => ({ account_id, order_no, ...one })),
    ),
  };
}
