// The SQL that brings staged lines into ledger.payout_requests, step by step as in
// stagedOrdersStore.ts. A payout request never changes: what was sent to the gateway under its id
// must stay what the ledger says. Another payment is another request. Neighbour:
// ledger/imports/tableImport.ts.

import { statement } from '../../database/statements.js';

export const PAYOUT_STATEMENTS = {
  create: `
create temp table import_line (
  file_no int not null,
  line_no bigint not null,
  given int not null,
  request_id uuid not null,
  account_id text collate "C" not null,
  payload jsonb not null,
  requested_at timestamptz not null
) on commit drop`,

  stage: `
insert into import_line
select * from unnest(
  $1::int[], $2::bigint[], $3::int[], $4::uuid[], $5::text[], $6::jsonb[], $7::timestamptz[])`,

  analyze: 'analyze import_line',

  repeated: `
select file_no, line_no, request_id::text as value, first_file, first_line
from (
  select file_no, line_no, request_id,
    first_value(file_no) over same as first_file,
    first_value(line_no) over same as first_line,
    row_number() over same as nth
  from import_line
  window same as (partition by request_id order by file_no, line_no)
) numbered
where nth > 1
order by file_no, line_no
limit $1`,

  lock: 'lock table ledger.payout_requests in share row exclusive mode',

  fate: `
create temp table import_fate on commit drop as
select l.*, r.account_id as held_account_id, r.payload as held_payload,
  r.requested_at as held_requested_at,
  case
    when r.request_id is null then 'inserted'
    -- the first time told stays: one that counts as history is not made younger
    when l.requested_at >= r.requested_at then 'unchanged'
    else 'updated'
  end as fate
from import_line l
left join ledger.payout_requests r using (request_id)`,

  refused: statement('ledger/imports/refusedPayouts'),

  counts: 'select fate, count(*) as lines from import_fate group by fate',

  apply: `
insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
select request_id, account_id, payload, requested_at
from import_fate
where fate in ('inserted', 'updated')
on conflict (request_id) do update set requested_at = excluded.requested_at`,
} as const;
