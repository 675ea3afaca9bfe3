-- Books what we made: every confirmed capture and refund that stands in a business day and is not
-- booked yet. Days are posted account by account in the order of movement_id, so that the newest
-- booked one tells how far it went. $1 run, $2 accounts, $3 settlement.from.
insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount, made,
  instruction_id, reference, business_date, run_id, is_history, day_movement_id)
select d.account_id, d.order_no, i.transaction_id,
  case d.operation when 'capture' then 'captured' else 'refunded' end, d.currency, d.amount, 'here',
  d.instruction_id, i.gateway_reference, d.posted_to, $1,
  d.posted_to < $3::date, d.movement_id
from tieout.movement_books b
join tieout.day_movements d on d.account_id = b.account_id and d.movement_id > coalesce((
    select max(day_movement_id) from tieout.movements m
    where m.account_id = b.account_id and m.day_movement_id is not null), 0)
join tieout.instructions i using (instruction_id)
where b.account_id = any ($2) and d.operation in ('capture', 'refund')
order by d.movement_id
