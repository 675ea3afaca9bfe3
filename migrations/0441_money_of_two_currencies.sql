-- Up Migration
-- The money of a break is that of the sides that bear its currency. Where the gateway took money in
-- another currency than the ledger's, what it took is at stake, in the currency that it took: 600.00
-- GBP were shown as 600 JPY, and one person could waive them by the limit of yen. Such a break is
-- found by either currency. One that opened before keeps the currency that it opened with.
create function tieout.break_money(kind text, currency text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select tieout.break_stake(case
    when kind in ('settlement_amount', 'settled_twice')
      and expected ->> 'currency' = actual ->> 'currency'
      and actual ? 'amount' and expected ? 'amount'
    then 'amount_mismatch' else kind end,
    case when expected ->> 'currency' <> currency then expected - 'amount' else expected end,
    case when actual ->> 'currency' <> currency then actual - 'amount' else actual end)
$$;

create or replace view tieout.break_facts as
  select b.break_id, b.account_id, b.order_no, b.kind, b.state, b.first_seen, b.expected, b.actual,
    b.fingerprint, b.currency, b.amount, b.owner, b.note, b.waived_reason, b.waived_by,
    b.waiver_asked_by, b.waiver_asked_reason,
    coalesce(b.waiver_asked_for = b.fingerprint, false) and b.state = 'open' as waiver_waits,
    coalesce(f.stake, b.amount) as stake, f.difference, f.page, f.batch, f.text,
    b.kind || case
      when f.difference is not null then ', delta '
        || case when f.difference > 0 then '+' else '' end || f.difference || ' ' || b.currency
      when b.kind = 'unknown_status' then ', code ' || coalesce(b.actual ->> 'code', '(none)')
      when b.kind = 'invalid_record' then ', ' || coalesce(b.expected ->> 'problem',
        'an entry of another shape')
      when b.kind in ('state_mismatch', 'refund_mismatch', 'currency_mismatch') then ', '
        || concat_ws(' ', coalesce(b.expected ->> 'state', 'nothing'),
          case when b.kind = 'currency_mismatch' then b.expected ->> 'currency' end)
        || ' here, ' || concat_ws(' ', coalesce(b.actual ->> 'state', 'nothing'),
          case when b.kind = 'currency_mismatch' then b.actual ->> 'currency' end) || ' there'
      when b.kind = 'instruction_rejected' then coalesce(', text ' || f.text, '')
      when b.kind = 'outcome_unknown' then coalesce(', batch ' || f.batch, '')
      when b.kind in ('missing_at_gateway', 'missing_in_ledger')
        then coalesce(', page ' || f.page, '')
      else ''
    end as cause,
    -- what a person may search for: no name of a field, nothing that only the machine reads
    lower(concat_ws(' ', b.order_no, b.expected ->> 'transaction', b.actual ->> 'transaction',
      (select string_agg(candidate ->> 'transaction', ' ')
        from jsonb_array_elements(b.actual -> 'candidates') candidate),
      b.owner, b.note, b.waived_reason, b.waiver_asked_reason, f.text,
      b.expected ->> 'problem', b.actual ->> 'code')) as searched
  from tieout.breaks b
  cross join lateral (
    select tieout.break_money(b.kind, b.currency, b.expected, b.actual) as stake,
      case when b.kind = 'amount_mismatch' and b.actual ->> 'amount' ~ '^\d{1,18}\.\d\d$'
          and b.expected ->> 'currency' = b.actual ->> 'currency'
        then (b.actual ->> 'amount')::numeric - (b.expected ->> 'amount')::numeric end
        as difference,
      case when b.kind in ('instruction_rejected', 'outcome_unknown') then (
        select i.batch_id::text from tieout.instructions i
        where i.account_id = b.account_id and i.order_no = b.order_no
        order by i.instruction_id desc limit 1) end as batch,
      case when b.kind in ('instruction_rejected', 'outcome_unknown') then (
        select nullif(concat_ws(' ', i.outcome_code, i.outcome_message), '')
        from tieout.instructions i
        where i.account_id = b.account_id and i.order_no = b.order_no
        order by i.instruction_id desc limit 1) end as text,
      (select b.account_id || ' of ' || r.business_date || ' no ' || o.page_no
        from tieout.run_accounts ra
        join tieout.runs r using (run_id)
        join tieout.asked_orders o on o.pull_id = ra.pull_id and o.account_id = b.account_id
          and o.order_no = b.order_no
        where ra.account_id = b.account_id and ra.pull_id is not null and not r.is_dry
        order by ra.business_date desc limit 1) as page
  ) f;

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

create or replace function tieout.found_breaks(ids bigint[], accounts text[], kinds text[],
  states text[], currency text, owner text, min_amount numeric, max_amount numeric, searched text,
  seen_from timestamptz, seen_before timestamptz, order_no text, cause text)
returns setof tieout.break_facts language sql stable as $$
  select f.* from tieout.break_facts f
  where (ids is null or f.break_id = any (ids))
    and (accounts is null or f.account_id = any (accounts))
    and (kinds is null or f.kind = any (kinds))
    and (states is null or f.state = any (states)
      or ('waiver_asked' = any (states) and f.waiver_waits))
    and (found_breaks.currency is null or f.currency = found_breaks.currency
      -- of two currencies it is found by either
      or f.kind = 'currency_mismatch' and f.expected ->> 'currency' = found_breaks.currency)
    and (found_breaks.owner is null or coalesce(f.owner, '') = found_breaks.owner)
    and (min_amount is null or f.stake >= min_amount)
    and (max_amount is null or f.stake <= max_amount)
    and (found_breaks.searched is null
      or position(lower(found_breaks.searched) in f.searched) > 0
      or exists (
        select from tieout.instructions i
        where i.account_id = f.account_id and i.order_no = f.order_no and i.operation = 'refund'
          and position(lower(found_breaks.searched) in lower(
            concat_ws(' ', i.refund_id, i.gateway_reference, i.refund_reference))) > 0))
    and (seen_from is null or f.first_seen >= seen_from)
    and (seen_before is null or f.first_seen < seen_before)
    and (found_breaks.order_no is null or f.order_no = found_breaks.order_no)
    and (found_breaks.cause is null or f.cause = found_breaks.cause)
$$;

create or replace function tieout.guard_break() returns trigger language plpgsql as $$
declare
  stake numeric;
begin
  if old.state = 'waived' then
    new.waiver_asked_by := null;
    new.waiver_asked_reason := null;
    new.waiver_asked_for := null;
    new.waived_by := null;
    new.waived_reason := null;
    new.waived_limit := null;
    return new;
  elsif new.state <> 'waived' then
    return new;
  end if;
  if old.state <> 'open' then
    raise exception 'break %: only an open break is waived', old.break_id
      using errcode = 'check_violation';
  end if;
  if coalesce(btrim(new.waived_by), '') = '' or coalesce(btrim(new.waived_reason), '') = ''
    or new.waived_limit is null then
    raise exception 'break %: a waiver names who, why and the limit in force', old.break_id
      using errcode = 'check_violation';
  end if;
  stake := greatest(new.amount, tieout.break_money(new.kind, new.currency, new.expected,
    new.actual));
  if (stake is null or stake > new.waived_limit)
    and (old.waiver_asked_by is null or old.waiver_asked_for is distinct from new.fingerprint
      or lower(btrim(old.waiver_asked_by)) = lower(btrim(new.waived_by))) then
    raise exception 'break %: a waiver of this size needs a second person', old.break_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;

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

create or replace view tieout.break_facts as
  select b.break_id, b.account_id, b.order_no, b.kind, b.state, b.first_seen, b.expected, b.actual,
    b.fingerprint, b.currency, b.amount, b.owner, b.note, b.waived_reason, b.waived_by,
    b.waiver_asked_by, b.waiver_asked_reason,
    coalesce(b.waiver_asked_for = b.fingerprint, false) and b.state = 'open' as waiver_waits,
    coalesce(f.stake, b.amount) as stake, f.difference, f.page, f.batch, f.text,
    b.kind || case
      when f.difference is not null then ', delta '
        || case when f.difference > 0 then '+' else '' end || f.difference || ' ' || b.currency
      when b.kind = 'unknown_status' then ', code ' || coalesce(b.actual ->> 'code', '(none)')
      when b.kind = 'invalid_record' then ', ' || coalesce(b.expected ->> 'problem',
        'an entry of another shape')
      when b.kind in ('state_mismatch', 'refund_mismatch', 'currency_mismatch') then ', '
        || concat_ws(' ', coalesce(b.expected ->> 'state', 'nothing'),
          case when b.kind = 'currency_mismatch' then b.expected ->> 'currency' end)
        || ' here, ' || concat_ws(' ', coalesce(b.actual ->> 'state', 'nothing'),
          case when b.kind = 'currency_mismatch' then b.actual ->> 'currency' end) || ' there'
      when b.kind = 'instruction_rejected' then coalesce(', text ' || f.text, '')
      when b.kind = 'outcome_unknown' then coalesce(', batch ' || f.batch, '')
      when b.kind in ('missing_at_gateway', 'missing_in_ledger')
        then coalesce(', page ' || f.page, '')
      else ''
    end as cause,
    -- what a person may search for: no name of a field, nothing that only the machine reads
    lower(concat_ws(' ', b.order_no, b.expected ->> 'transaction', b.actual ->> 'transaction',
      (select string_agg(candidate ->> 'transaction', ' ')
        from jsonb_array_elements(b.actual -> 'candidates') candidate),
      b.owner, b.note, b.waived_reason, b.waiver_asked_reason, f.text,
      b.expected ->> 'problem', b.actual ->> 'code')) as searched
  from tieout.breaks b
  cross join lateral (
    select tieout.break_money(b.kind, b.expected, b.actual) as stake,
      case when b.kind = 'amount_mismatch' and b.actual ->> 'amount' ~ '^\d{1,18}\.\d\d$'
        then (b.actual ->> 'amount')::numeric - (b.expected ->> 'amount')::numeric end
        as difference,
      case when b.kind in ('instruction_rejected', 'outcome_unknown') then (
        select i.batch_id::text from tieout.instructions i
        where i.account_id = b.account_id and i.order_no = b.order_no
        order by i.instruction_id desc limit 1) end as batch,
      case when b.kind in ('instruction_rejected', 'outcome_unknown') then (
        select nullif(concat_ws(' ', i.outcome_code, i.outcome_message), '')
        from tieout.instructions i
        where i.account_id = b.account_id and i.order_no = b.order_no
        order by i.instruction_id desc limit 1) end as text,
      (select b.account_id || ' of ' || r.business_date || ' no ' || o.page_no
        from tieout.run_accounts ra
        join tieout.runs r using (run_id)
        join tieout.asked_orders o on o.pull_id = ra.pull_id and o.account_id = b.account_id
          and o.order_no = b.order_no
        where ra.account_id = b.account_id and ra.pull_id is not null and not r.is_dry
        order by ra.business_date desc limit 1) as page
  ) f;

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

create or replace function tieout.found_breaks(ids bigint[], accounts text[], kinds text[],
  states text[], currency text, owner text, min_amount numeric, max_amount numeric, searched text,
  seen_from timestamptz, seen_before timestamptz, order_no text, cause text)
returns setof tieout.break_facts language sql stable as $$
  select f.* from tieout.break_facts f
  where (ids is null or f.break_id = any (ids))
    and (accounts is null or f.account_id = any (accounts))
    and (kinds is null or f.kind = any (kinds))
    and (states is null or f.state = any (states)
      or ('waiver_asked' = any (states) and f.waiver_waits))
    and (found_breaks.currency is null or f.currency = found_breaks.currency)
    and (found_breaks.owner is null or coalesce(f.owner, '') = found_breaks.owner)
    and (min_amount is null or f.stake >= min_amount)
    and (max_amount is null or f.stake <= max_amount)
    and (found_breaks.searched is null
      or position(lower(found_breaks.searched) in f.searched) > 0
      or exists (
        select from tieout.instructions i
        where i.account_id = f.account_id and i.order_no = f.order_no and i.operation = 'refund'
          and position(lower(found_breaks.searched) in lower(
            concat_ws(' ', i.refund_id, i.gateway_reference, i.refund_reference))) > 0))
    and (seen_from is null or f.first_seen >= seen_from)
    and (seen_before is null or f.first_seen < seen_before)
    and (found_breaks.order_no is null or f.order_no = found_breaks.order_no)
    and (found_breaks.cause is null or f.cause = found_breaks.cause)
$$;

create or replace function tieout.guard_break() returns trigger language plpgsql as $$
declare
  stake numeric;
begin
  if old.state = 'waived' then
    new.waiver_asked_by := null;
    new.waiver_asked_reason := null;
    new.waiver_asked_for := null;
    new.waived_by := null;
    new.waived_reason := null;
    new.waived_limit := null;
    return new;
  elsif new.state <> 'waived' then
    return new;
  end if;
  if old.state <> 'open' then
    raise exception 'break %: only an open break is waived', old.break_id
      using errcode = 'check_violation';
  end if;
  if coalesce(btrim(new.waived_by), '') = '' or coalesce(btrim(new.waived_reason), '') = ''
    or new.waived_limit is null then
    raise exception 'break %: a waiver names who, why and the limit in force', old.break_id
      using errcode = 'check_violation';
  end if;
  stake := greatest(new.amount, tieout.break_stake(new.kind, new.expected, new.actual));
  if (stake is null or stake > new.waived_limit)
    and (old.waiver_asked_by is null or old.waiver_asked_for is distinct from new.fingerprint
      or lower(btrim(old.waiver_asked_by)) = lower(btrim(new.waived_by))) then
    raise exception 'break %: a waiver of this size needs a second person', old.break_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;

drop function tieout.break_money(text, text, jsonb, jsonb);
