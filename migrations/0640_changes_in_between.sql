-- Up Migration
-- A break that came and went between the two ends is listed: under what opened it and under what
-- ended it, with the same money. So the list has each break that the tie counts as new, and one
-- that a person waived before it was settled stands under Waived, with their reason.
create or replace function tieout.changed_breaks(run bigint, accounts text[])
returns table (break_id bigint, account_id text, order_no text, kind text,
  first_seen timestamptz, owner text, currency text, change text, stake_before numeric,
  stake_after numeric, moved numeric, at timestamptz, by text, is_claim boolean, reason text,
  cause text)
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
  -- The events that say how it stood at each end (open or not), what both sides said there, and
  -- what opened it and what ended it in between.
  ends as (
    select c.broken, was.row_of as was, became.row_of as became,
      said_before.row_of as said_before, said_after.row_of as said_after,
      came.row_of as came, ended.row_of as ended
    from candidate c
    cross join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_until
        and e.event in ('opened', 'reopened', 'changed')
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
        and e.event in ('opened', 'reopened', 'changed')
      order by e.event_id desc limit 1
    ) said_before on true
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id <= c.events_after
        and e.event in ('opened', 'reopened', 'resolved', 'waived')
      order by e.event_id desc limit 1
    ) was on true
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id > c.events_after
        and e.event_id <= c.events_until and e.event in ('opened', 'reopened')
      order by e.event_id desc limit 1
    ) came on true
    left join lateral (
      select e as row_of from tieout.break_events e
      where e.break_id = (c.broken).break_id and e.event_id > c.events_after
        and e.event_id <= c.events_until and e.event in ('waived', 'resolved')
        and e.from_state = 'open'
      order by e.event_id desc limit 1
    ) ended on true
    where greatest((said_after.row_of).event_id, (became.row_of).event_id) > c.events_after
  ),
  known as materialized (
    select (broken).break_id, (broken).account_id, (broken).order_no, (broken).kind,
      (broken).first_seen, (broken).owner,
      (was).event as was, coalesce((was).event in ('opened', 'reopened'), false) as was_open,
      (became).event in ('opened', 'reopened') as is_open,
      (said_before).currency as was_currency, (said_after).currency as is_currency,
      round(coalesce(tieout.break_money((broken).kind, (said_before).currency,
        (said_before).expected, (said_before).actual),
        (said_before).amount), 2) as was_stake,
      round(coalesce(tieout.break_money((broken).kind, (said_after).currency,
        (said_after).expected, (said_after).actual),
        (said_after).amount), 2) as is_stake,
      said_after, became, came, ended
    from ends
  ),
  -- One that came back in another currency has ended in the one and is open again in the other;
  -- one that came and went between the two ends is under both.
  named as (
    select k.*, half.*, case when was_open then was_stake else is_stake end as stake_then, case
      when half.before and half.after then case
        when coalesce(is_stake, 0) > coalesce(was_stake, 0) then 'grown'
        when coalesce(is_stake, 0) < coalesce(was_stake, 0) then 'shrunk' end
      when half.after then case when was is null then 'new' else 'reopened' end
      when is_open then 'resolved'
      else coalesce((ended).event, (became).event) end as change,
      -- who and why: of what opened or ended it, or of what it says now
      case when was_open and is_open then said_after
        when half.after then came else coalesce(ended, became) end as told
    from known k
    cross join lateral (
      select was_currency as currency, true as before, false as after
      where was_open and (not is_open or was_currency is distinct from is_currency)
      union all
      select is_currency, was_open and was_currency is not distinct from is_currency, true
      where is_open
      union all
      select is_currency, went, not went from unnest(array[false, true]) as went
      where not was_open and not is_open and (came).event is not null
    ) half
  )
  select n.break_id, n.account_id, n.order_no, n.kind, n.first_seen, n.owner, n.currency, n.change,
    case when before then stake_then end, case when after then is_stake end,
    case when after then coalesce(is_stake, 0) else 0 end
      - case when before then coalesce(stake_then, 0) else 0 end,
    (n.told).at, (n.told).by, (n.told).is_claim, (n.told).reason, (n.told).cause
  from named n where n.change is not null
$$;

-- Down Migration
create or replace function tieout.changed_breaks(run bigint, accounts text[])
returns table (break_id bigint, account_id text, order_no text, kind text,
  first_seen timestamptz, owner text, currency text, change text, stake_before numeric,
  stake_after numeric, moved numeric, at timestamptz, by text, is_claim boolean, reason text,
  cause text)
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
