-- Up Migration
-- What changed since the run before counts money as lists do: of the sides that bear its currency.
create or replace function tieout.changed_breaks(run bigint, accounts text[])
returns table (break_id bigint, account_id text, order_no text, kind text, first_seen timestamptz,
  owner text, currency text, change text, stake_before numeric, stake_after numeric, moved numeric,
  at timestamptz, by text, is_claim boolean, reason text, cause text)
language sql stable as $$
  with account as materialized (
    select ra.account_id, ra.events_after,
      coalesce(ra.events_until, 9223372036854775807) as events_until
    from tieout.run_accounts ra where ra.run_id = run and ra.account_id = any (accounts)
  ),
  between_ends as materialized (
    select distinct e.break_id from tieout.break_events e
    where e.event_id > (select min(events_after) from account where events_after > 0)
      and e.event_id <= (select max(events_until) from account where events_after > 0)
      and e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
  ),
  -- A break by its number, one at a time: a join would go through all of them.
  candidate as (
    select b.break_row as broken, a.events_after, a.events_until
    from between_ends t
    cross join lateral (
      select b as break_row from tieout.breaks b where b.break_id = t.break_id offset 0
    ) b
    join account a on a.account_id = (b.break_row).account_id and a.events_after > 0
    union all
    select b, 0, a.events_until
    from account a join tieout.breaks b on b.account_id = a.account_id and a.events_after = 0
    where b.first_run_id <= run
  ),
  -- The events that say how it stood at each end (open or not), and what it said there.
  ends as (
    select c.broken, was.row_of as was, became.row_of as became,
      said_before.row_of as said_before, said_after.row_of as said_after
    from candidate c
    cross join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_until
        and e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
      order by e.event_id desc limit 1
    ) said_after
    cross join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_until
        and e.event in ('opened', 'reopened', 'resolved', 'waived')
      order by e.event_id desc limit 1
    ) became
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_after
        and e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
      order by e.event_id desc limit 1
    ) said_before on true
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_after
        and e.event in ('opened', 'reopened', 'resolved', 'waived')
      order by e.event_id desc limit 1
    ) was on true
    where (said_after.row_of).event_id > c.events_after
  ),
  known as materialized (
    select (broken).break_id, (broken).account_id, (broken).order_no, (broken).kind,
      (broken).first_seen, (broken).owner,
      (was).event as was, coalesce((was).event in ('opened', 'reopened'), false) as was_open,
      (became).event as became, (became).event in ('opened', 'reopened') as is_open,
      (said_before).currency as was_currency, (said_after).currency as is_currency,
      round(coalesce(tieout.break_money((broken).kind, (said_before).currency,
        (said_before).expected, (said_before).actual),
        (said_before).amount), 2) as was_stake,
      round(coalesce(tieout.break_money((broken).kind, (said_after).currency,
        (said_after).expected, (said_after).actual),
        (said_after).amount), 2) as is_stake,
      -- who and why: of what opened or ended it, or of what it says now
      case when (was).event in ('opened', 'reopened') and (became).event in ('opened', 'reopened')
        then said_after else became end as told
    from ends
  ),
  -- One that came back in another currency has ended in the one and is open again in the other.
  named as (
    select k.*, half.*, case
      when half.before and half.after then case
        when coalesce(is_stake, 0) > coalesce(was_stake, 0) then 'grown'
        when coalesce(is_stake, 0) < coalesce(was_stake, 0) then 'shrunk' end
      when half.after then case when was is null then 'new' else 'reopened' end
      when became = 'waived' then 'waived'
      else 'resolved' end as change
    from known k
    cross join lateral (
      select was_currency as currency, true as before, false as after
      where was_open and (not is_open or was_currency is distinct from is_currency)
      union all
      select is_currency, was_open and was_currency is not distinct from is_currency, true
      where is_open
    ) half
  )
  select n.break_id, n.account_id, n.order_no, n.kind, n.first_seen, n.owner, n.currency, n.change,
    case when before then was_stake end, case when after then is_stake end,
    case when after then coalesce(is_stake, 0) else 0 end
      - case when before then coalesce(was_stake, 0) else 0 end,
    (n.told).at, (n.told).by, (n.told).is_claim, (n.told).reason, (n.told).cause
  from named n where n.change is not null
$$;

drop function tieout.break_money(text, jsonb, jsonb);

-- Down Migration
create function tieout.break_money(kind text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select tieout.break_stake(case
    when kind in ('settlement_amount', 'settled_twice')
      and expected ->> 'currency' = actual ->> 'currency'
      and actual ? 'amount' and expected ? 'amount'
    then 'amount_mismatch' else kind end, expected, case
    when expected ->> 'currency' <> actual ->> 'currency' then actual - 'amount' else actual end)
$$;

create or replace function tieout.changed_breaks(run bigint, accounts text[])
returns table (break_id bigint, account_id text, order_no text, kind text, first_seen timestamptz,
  owner text, currency text, change text, stake_before numeric, stake_after numeric, moved numeric,
  at timestamptz, by text, is_claim boolean, reason text, cause text)
language sql stable as $$
  with account as materialized (
    select ra.account_id, ra.events_after,
      coalesce(ra.events_until, 9223372036854775807) as events_until
    from tieout.run_accounts ra where ra.run_id = run and ra.account_id = any (accounts)
  ),
  between_ends as materialized (
    select distinct e.break_id from tieout.break_events e
    where e.event_id > (select min(events_after) from account where events_after > 0)
      and e.event_id <= (select max(events_until) from account where events_after > 0)
      and e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
  ),
  -- A break by its number, one at a time: a join would go through all of them.
  candidate as (
    select b.break_row as broken, a.events_after, a.events_until
    from between_ends t
    cross join lateral (
      select b as break_row from tieout.breaks b where b.break_id = t.break_id offset 0
    ) b
    join account a on a.account_id = (b.break_row).account_id and a.events_after > 0
    union all
    select b, 0, a.events_until
    from account a join tieout.breaks b on b.account_id = a.account_id and a.events_after = 0
    where b.first_run_id <= run
  ),
  -- The events that say how it stood at each end (open or not), and what it said there.
  ends as (
    select c.broken, was.row_of as was, became.row_of as became,
      said_before.row_of as said_before, said_after.row_of as said_after
    from candidate c
    cross join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_until
        and e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
      order by e.event_id desc limit 1
    ) said_after
    cross join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_until
        and e.event in ('opened', 'reopened', 'resolved', 'waived')
      order by e.event_id desc limit 1
    ) became
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_after
        and e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
      order by e.event_id desc limit 1
    ) said_before on true
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_after
        and e.event in ('opened', 'reopened', 'resolved', 'waived')
      order by e.event_id desc limit 1
    ) was on true
    where (said_after.row_of).event_id > c.events_after
  ),
  known as materialized (
    select (broken).break_id, (broken).account_id, (broken).order_no, (broken).kind,
      (broken).first_seen, (broken).owner,
      (was).event as was, coalesce((was).event in ('opened', 'reopened'), false) as was_open,
      (became).event as became, (became).event in ('opened', 'reopened') as is_open,
      (said_before).currency as was_currency, (said_after).currency as is_currency,
      round(coalesce(tieout.break_money((broken).kind, (said_before).expected,
        (said_before).actual),
        (said_before).amount), 2) as was_stake,
      round(coalesce(tieout.break_money((broken).kind, (said_after).expected, (said_after).actual),
        (said_after).amount), 2) as is_stake,
      -- who and why: of what opened or ended it, or of what it says now
      case when (was).event in ('opened', 'reopened') and (became).event in ('opened', 'reopened')
        then said_after else became end as told
    from ends
  ),
  -- One that came back in another currency has ended in the one and is open again in the other.
  named as (
    select k.*, half.*, case
      when half.before and half.after then case
        when coalesce(is_stake, 0) > coalesce(was_stake, 0) then 'grown'
        when coalesce(is_stake, 0) < coalesce(was_stake, 0) then 'shrunk' end
      when half.after then case when was is null then 'new' else 'reopened' end
      when became = 'waived' then 'waived'
      else 'resolved' end as change
    from known k
    cross join lateral (
      select was_currency as currency, true as before, false as after
      where was_open and (not is_open or was_currency is distinct from is_currency)
      union all
      select is_currency, was_open and was_currency is not distinct from is_currency, true
      where is_open
    ) half
  )
  select n.break_id, n.account_id, n.order_no, n.kind, n.first_seen, n.owner, n.currency, n.change,
    case when before then was_stake end, case when after then is_stake end,
    case when after then coalesce(is_stake, 0) else 0 end
      - case when before then coalesce(was_stake, 0) else 0 end,
    (n.told).at, (n.told).by, (n.told).is_claim, (n.told).reason, (n.told).cause
  from named n where n.change is not null
$$;
