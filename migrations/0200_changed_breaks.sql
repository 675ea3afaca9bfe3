-- Up Migration
-- What became of the breaks of a run since the run before of the same account: how each stood at
-- the end of that one and how at the end of this one (of a run that works: now), from the events
-- between. Money is what was at stake as both sides stood, in the break's own currency; `moved` is
-- by how much what is open became more or less, and nothing where nobody can say how much it is.
-- What opened and went between the two was open at neither end, and is not in it.
create function tieout.changed_breaks(run bigint, accounts text[])
returns table (break_id bigint, account_id text, order_no text, kind text, first_seen timestamptz,
  owner text, currency text, change text, stake_before numeric, stake_after numeric, moved numeric,
  at timestamptz, by text, is_claim boolean, reason text, cause text)
language sql stable as $$
  with account as materialized (
    select ra.account_id, ra.events_after,
      coalesce(ra.events_until, 9223372036854775807) as events_until
    from tieout.run_accounts ra where ra.run_id = run and ra.account_id = any (accounts)
  ),
  touched as materialized (
    select distinct b.break_id, a.events_after, a.events_until
    from tieout.break_events e
    join tieout.breaks b on b.break_id = e.break_id
    join account a on a.account_id = b.account_id and e.event_id > a.events_after
      and e.event_id <= a.events_until
    where e.event_id > (select min(events_after) from account)
      and e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
  ),
  -- The events that say how it stood at each end, and what it said there.
  ends as (
    select t.break_id,
      max(e.event_id) filter (where e.event <> 'changed' and e.event_id <= t.events_after) as was,
      max(e.event_id) filter (where e.event <> 'changed') as became,
      max(e.event_id) filter (where e.event_id <= t.events_after) as said_before,
      max(e.event_id) as said_after
    from touched t
    join tieout.break_events e on e.break_id = t.break_id and e.event_id <= t.events_until
    where e.event in ('opened', 'reopened', 'resolved', 'waived', 'changed')
    group by t.break_id
  ),
  known as (
    select b.break_id, b.account_id, b.order_no, b.kind, b.first_seen, b.owner,
      was.event as was, coalesce(was.event in ('opened', 'reopened'), false) as was_open,
      became.event as became, became.event in ('opened', 'reopened') as is_open,
      x.currency as was_currency, y.currency as is_currency,
      round(coalesce(tieout.break_money(b.kind, x.expected, x.actual), x.amount), 2) as was_stake,
      round(coalesce(tieout.break_money(b.kind, y.expected, y.actual), y.amount), 2) as is_stake,
      told.at, told.by, told.is_claim, told.reason, told.cause
    from ends
    join tieout.breaks b on b.break_id = ends.break_id
    left join tieout.break_events was on was.event_id = ends.was
    left join tieout.break_events x on x.event_id = ends.said_before
    join tieout.break_events became on became.event_id = ends.became
    join tieout.break_events y on y.event_id = ends.said_after
    -- who and why: of what opened or ended it, or of what it says now
    join tieout.break_events told on told.event_id = case
      when was.event in ('opened', 'reopened') and became.event in ('opened', 'reopened')
      then ends.said_after else ends.became end
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
    n.at, n.by, n.is_claim, n.reason, n.cause
  from named n where n.change is not null
$$;

-- Down Migration
drop function tieout.changed_breaks(bigint, text[]);
