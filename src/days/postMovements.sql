-- Posts every confirmed movement of money that no day has yet: to the day of the run that sent it,
-- or to the first open one when that is closed. $1 accounts. The caller holds their days.
with account as materialized (
  select account_id, tieout.closed_until(account_id) as closed_until, coalesce((
    -- a run of an earlier date may have been made after it, for an account that came late
    select min(run_id) from tieout.runs where not is_dry and business_date >= (
      select business_date from tieout.runs r
      where not is_dry and exists (select from tieout.day_movements m
        where m.account_id = a.account_id and m.settled_run_id = r.run_id)
      order by business_date desc limit 1)
  ), 0) as posted_from
  from (select id collate "C" as account_id from unnest($1::text[]) as id) a
),
unposted as (
  select i.instruction_id, i.account_id, i.order_no, i.operation, i.currency,
    coalesce(i.refund_amount, i.amount) as amount, i.settled_run_id,
    coalesce(sent.business_date, r.business_date) as belongs_to, account.closed_until
  from account
  join tieout.instructions i on i.account_id = account.account_id
  join tieout.runs r on r.run_id = i.run_id
  left join lateral (
    select s.business_date
    from tieout.attempts_of(i) t join tieout.runs s on s.run_id = t.sending_run_id
    where t.outcome <> 'not_sent'
    order by t.claimed_at desc limit 1
  ) sent on true
  where i.state = 'confirmed'
    and i.operation in ('capture', 'cancel', 'refund', 'payout') and i.is_in_totals
    -- what earlier runs settled was posted by them
    and (i.settled_run_id >= account.posted_from
      or (i.settled_run_id is null and i.settled_at is not null))
    and not exists (
      select from tieout.day_movements m where m.instruction_id = i.instruction_id)
)
insert into tieout.day_movements (instruction_id, account_id, order_no, operation, currency,
  amount, belongs_to, posted_to, settled_run_id)
select instruction_id, account_id, order_no, operation, currency, amount, belongs_to,
  greatest(belongs_to, closed_until + 1), settled_run_id
from unposted
order by instruction_id
