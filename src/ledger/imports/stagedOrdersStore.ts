// The SQL that brings staged lines into ledger.orders. The lines lie in a temporary table of the
// import's own transaction; `fate` decides what becomes of each, `apply` writes it. Neighbour:
// ledger/imports/tableImport.ts runs them in this order. `given` has a bit for each nullable column
// of the line.

import { statement } from '../../database/statements.js';

export const ORDER_STATEMENTS = {
  create: statement('ledger/imports/orderLines'),

  stage: `
insert into import_line
select * from unnest(
  $1::int[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::numeric[],
  $8::text[], $9::text[], $10::numeric[], $11::text[], $12::timestamptz[], $13::timestamptz[])`,

  analyze: 'analyze import_line',

  repeated: `
select file_no, line_no, order_no as value, first_file, first_line
from (
  select file_no, line_no, order_no,
    first_value(file_no) over same as first_file,
    first_value(line_no) over same as first_line,
    row_number() over same as nth
  from import_line
  window same as (partition by account_id, order_no order by file_no, line_no)
) numbered
where nth > 1
order by file_no, line_no
limit $1`,

  lock: 'lock table ledger.orders in share row exclusive mode',

  fate: statement('ledger/imports/orderFates'),

  refused: statement('ledger/imports/refusedOrders'),

  counts: 'select fate, count(*) as lines from import_fate group by fate',

  // $1: the separator of the list in which orders are asked for, $2: how many lines are named.
  neverAsked: `
select line_no as line, order_no, count(*) over () as lines
from import_fate where position($1 in order_no) > 0
order by file_no, line_no
limit $2`,

  apply: statement('ledger/imports/applyOrders'),
} as const;
