-- Posts every confirmed movement of money that no day has yet: to the day of the run that sent it,
-- or to the first open one when that is closed. $1 accounts. The caller holds their days.
with unposted as (
  select i.instruction_id, i.account_id, i.order_no, i.operation, i.currency,
    coalesce(i.refund_amount, i.amount) as amount, i.settled_run_id,
    coalesce(sent.business_date, r.business_date) as belongs_to
  from tieout.instructions i
  join tieout.runs r on r.run_id = i.run_id
  left join lateral (
    select s.business_date
    from tieout.attempts t join tieout.runs s on s.run_id = t.sending_run_id
    where t.batch_id = i.batch_id and t.outcome <> 'not_sent'
    order by t.claimed_at desc limit 1
  ) sent on true
  where i.account_id = any ($1) and i.state = 'confirmed'
    and i.operation in ('capture', 'cancel', 'refund', 'payout') and i.is_in_totals
    -- what earlier runs settled was posted by them
    and (i.settled_run_id is null or i.settled_run_id >= coalesce((
      select max(settled_run_id) from tieout.day_movements where account_id = i.account_id), 0))
    and not exists (
      select from tieout.day_movements m where m.instruction_id = i.instruction_id)
)
insert into tieout.day_movements (instruction_id, account_id, order_no, operation, currency,
  amount, belongs_to, posted_to, settled_run_id)
select instruction_id, account_id, order_no, operation, currency, amount, belongs_to,
  greatest(belongs_to, tieout.closed_until(account_id) + 1), settled_run_id
from unposted
order by instruction_id
