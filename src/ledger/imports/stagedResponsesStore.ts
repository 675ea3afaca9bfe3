// The SQL that gives orders of the ledger the transaction that a stored payment response names.
// Nothing but transaction_id is written; updated_at stays, since it is the merchant's clock.
// Neighbour: ledger/imports/importResponses.ts runs these in order.

import { statement } from '../../database/statements.js';

export const RESPONSE_STATEMENTS = {
  create: `
create temp table import_response (
  file_no int not null,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  currency text not null,
  amount numeric(20, 2) not null,
  transaction_id text collate "C" not null
) on commit drop`,

  stage: `
insert into import_response
select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::text[])`,

  analyze: 'analyze import_response',

  lock: 'lock table ledger.orders in share row exclusive mode',

  refused: statement('ledger/imports/refusedResponses'),

  counts: `
select case when o.transaction_id is null and nth = 1 then 'updated' else 'unchanged' end as fate,
  count(*) as lines
from (
  select account_id, order_no,
    row_number() over (partition by account_id, order_no order by file_no) as nth
  from import_response
) r
join ledger.orders o using (account_id, order_no)
group by 1`,

  apply: `
update ledger.orders o
set transaction_id = r.transaction_id
from import_response r
where o.account_id = r.account_id and o.order_no = r.order_no and o.transaction_id is null`,
} as const;
