-- Up Migration
-- The money of a break is that of the sides that bear its currency. Where the gateway took money in
-- another currency than the ledger's, what it took is at stake, in that currency: 600.00 GBP were
-- shown as 600 JPY, and one person could waive them by the limit of yen. One that opened
-- before keeps the currency that it opened with.
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

-- Down Migration
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
