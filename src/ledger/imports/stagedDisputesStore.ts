// The SQL that brings staged lines into ledger.disputes, step by step as in stagedOrdersStore.ts.
// Everything of a dispute may be corrected by a newer line. Neighbour: tableImport.ts.

import { statement } from '../../database/statements.js';

export const DISPUTE_STATEMENTS = {
  create: statement('ledger/imports/disputeLines'),

  stage: `
insert into import_line
select * from unnest(
  $1::int[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
  $9::numeric[], $10::text[], $11::timestamptz[])`,

  analyze: 'analyze import_line',

  repeated: `
select file_no, line_no, dispute_id as value, first_file, first_line
from (
  select file_no, line_no, dispute_id,
    first_value(file_no) over same as first_file,
    first_value(line_no) over same as first_line,
    row_number() over same as nth
  from import_line
  window same as (partition by account_id, dispute_id order by file_no, line_no)
) numbered
where nth > 1
order by file_no, line_no
limit $1`,

  lock: 'lock table ledger.disputes in share row exclusive mode',

  fate: statement('ledger/imports/disputeFates'),

  refused: null,

  counts: 'select fate, count(*) as lines from import_fate group by fate',

  apply: `
insert into ledger.disputes (account_id, dispute_id, order_no, transaction_id, currency, amount,
  stage, at)
select account_id, dispute_id, order_no, transaction_id, currency, amount, stage, at
from import_fate
where fate in ('inserted', 'updated')
on conflict (account_id, dispute_id) do update set order_no = excluded.order_no,
  transaction_id = excluded.transaction_id, currency = excluded.currency,
  amount = excluded.amount, stage = excluded.stage, at = excluded.at`,

  withoutOrder: `
select count(*) as lines
from import_fate f
where not exists (
  select from ledger.orders o where o.account_id = f.account_id and o.order_no = f.order_no)`,
} as const;
