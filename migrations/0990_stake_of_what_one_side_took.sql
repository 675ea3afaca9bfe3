-- Up Migration
-- Where amounts differ and one side alone says that money was taken, all of it is at stake and not
-- the difference alone: also of what is in review, pending or declined, and of what the gateway
-- took though the ledger has it reserved, cancelled or declined. Null: both took it, or neither.
create function tieout.taken_by(expected text, observed text) returns text
language sql immutable as $$
  select case
    when expected = 'captured' and observed in ('authorised', 'in_review', 'pending', 'declined',
      'cancelled') then 'ledger'
    when expected in ('authorised', 'cancelled', 'declined')
      and observed in ('captured', 'partially_refunded') then 'gateway'
  end
$$;
create or replace function tieout.break_stake(kind text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select case when kind = 'amount_mismatch'
      and tieout.taken_by(expected ->> 'state', actual ->> 'state') is null
    then abs(
      case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (actual ->> 'amount')::numeric end
      - case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (expected ->> 'amount')::numeric end)
    else greatest(
      case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (expected ->> 'amount')::numeric end,
      case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (actual ->> 'amount')::numeric end)
  end
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
        || case tieout.taken_by(b.expected ->> 'state', b.actual ->> 'state')
          when 'ledger' then ', not captured'
          when 'gateway' then ', captured at the gateway alone'
          else '' end
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
      else ''
    end collate "C" as cause,
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
drop function tieout.is_uncaptured(jsonb, jsonb);

-- Down Migration
create function tieout.is_uncaptured(expected jsonb, actual jsonb) returns boolean
language sql immutable as $$
  select expected ->> 'state' = 'captured' and actual ->> 'state' = 'authorised'
$$;
create or replace function tieout.break_stake(kind text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select case when kind = 'amount_mismatch' and tieout.is_uncaptured(expected, actual) is not true
    then abs(
      case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (actual ->> 'amount')::numeric end
      - case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (expected ->> 'amount')::numeric end)
    else greatest(
      case when expected ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (expected ->> 'amount')::numeric end,
      case when actual ->> 'amount' ~ '^\d{1,18}(\.\d\d?)?$'
        then (actual ->> 'amount')::numeric end)
  end
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
        || case when tieout.is_uncaptured(b.expected, b.actual) then ', not captured' else '' end
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
      else ''
    end collate "C" as cause,
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
drop function tieout.taken_by(text, text);
