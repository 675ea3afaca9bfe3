-- Up Migration
-- Refund requests of an account that a look before this one, since the last night that told its
-- figures, had dated from an instant on. What the ledger dates older by now counts as done: it is
-- looked at once more (askLive.sql) and told (datedBack.sql) by this one rule.
create function tieout.younger_requests(account text, since timestamptz, look bigint)
returns table (order_no text, refund_id text, requested_at timestamptz)
language sql stable as $$
  select was.order_no, was.refund_id, was.requested_at
  from tieout.pulls own
  join tieout.runs own_run on own_run.run_id = own.run_id
  join tieout.runs r on not r.is_dry and r.business_date <= own_run.business_date
    and r.business_date >= coalesce((
      select max(told.business_date) from tieout.run_accounts t
      join tieout.runs told on told.run_id = t.run_id and not told.is_dry
        and told.summary is not null and told.business_date < own_run.business_date
      where t.account_id = account), '-infinity')
  join tieout.pulls p on p.run_id = r.run_id and p.kind = 'night' and p.pull_id < own.pull_id
  join tieout.asked_refunds was on was.pull_id = p.pull_id and was.account_id = account
    and was.requested_at >= since
  where own.pull_id = look
$$;

-- Down Migration
drop function tieout.younger_requests(text, timestamptz, bigint);
