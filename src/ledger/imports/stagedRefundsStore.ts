// The SQL that brings staged lines into ledger.refund_requests, step by step as in
// stagedOrdersStore.ts. A refund request's amount and order never change: what was sent to the
// gateway under its id must stay what the ledger says. Neighbour: ledger/imports/tableImport.ts.

import { statement } from '../../database/statements.js';

export const REFUND_STATEMENTS = {
  create: `
create temp table import_line (
  file_no int not null,
  line_no bigint not null,
  given int not null,
  account_id text collate "C" not null,
  refund_id text collate "C" not null,
  order_no text collate "C" not null,
  refund_amount numeric(20, 2) not null,
  reason text,
  requested_by text,
  requested_at timestamptz not null
) on commit drop`,

  stage: `
insert into import_line
select * from unnest(
  $1::int[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::numeric[],
  $8::text[], $9::text[], $10::timestamptz[])`,

  analyze: 'analyze import_line',

  repeated: `
select file_no, line_no, refund_id as value, first_file, first_line
from (
  select file_no, line_no, refund_id,
    first_value(file_no) over same as first_file,
    first_value(line_no) over same as first_line,
    row_number() over same as nth
  from import_line
  window same as (partition by account_id, refund_id order by file_no, line_no)
) numbered
where nth > 1
order by file_no, line_no
limit $1`,

  lock: 'lock table ledger.refund_requests in share row exclusive mode',

  fate: statement('ledger/imports/refundFates'),

  refused: statement('ledger/imports/refusedRefunds'),

  counts: 'select fate, count(*) as lines from import_fate group by fate',

  apply: `
insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, reason,
  requested_by, requested_at)
select account_id, refund_id, order_no, refund_amount, reason, requested_by, requested_at
from import_fate
where fate in ('inserted', 'updated')
on conflict (account_id, refund_id) do update set
  reason = excluded.reason,
  requested_by = excluded.requested_by,
  requested_at = excluded.requested_at`,

  withoutOrder: `
select count(*) as lines
from import_fate f
where not exists (
  select from ledger.orders o where o.account_id = f.account_id and o.order_no = f.order_no)`,
} as const;
