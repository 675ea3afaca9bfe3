-- Up Migration
-- The life of a break with people in it: who noted it, whose it is, who waived it and with whom,
-- and by what it went away. Above a limit a waiver needs two people: the database holds that.
alter table tieout.breaks
  -- a waiver that waits for a second person, and the fingerprint that the first one saw
  add column waiver_asked_by text,
  add column waiver_asked_reason text,
  add column waiver_asked_for text,
  add column waived_by text,
  -- what one person may waive alone, as it stood when the break was waived
  add column waived_limit numeric(20, 2);

alter table tieout.break_events
  drop constraint break_events_event_check,
  add constraint break_events_event_check check (event in ('opened', 'reopened', 'resolved',
    'waived', 'changed', 'noted', 'assigned', 'waiver_asked')),
  -- by what a break resolved: what we sent, somebody else at the gateway, a change of the ledger,
  -- the tolerance, an entry that is gone, another break that stands instead, changed settings
  add column cause text check (cause in ('instruction', 'outside', 'ledger', 'tolerance', 'gone',
    'other_break', 'rules')),
  -- a name from the command line is what somebody says; one from the console was logged in
  add column is_claim boolean not null default false,
  -- decisions taken over many breaks at once bear one number, and what was chosen in words
  add column decision_id uuid,
  add column decided_over text,
  add constraint break_events_cause_of_resolved check (cause is null or event = 'resolved');

-- The money in a break as it stands: the difference of two amounts, else the larger side. Null:
-- nobody can say. One expression: PostgreSQL works it out in place, without a call for each break.
create function tieout.break_stake(kind text, expected jsonb, actual jsonb)
returns numeric language sql immutable as $$
  select case when kind = 'amount_mismatch'
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

create function tieout.guard_break() returns trigger language plpgsql as $$
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
create trigger guard_break before update on tieout.breaks
  for each row when (new.state is distinct from old.state) execute function tieout.guard_break();

create function tieout.guard_new_break() returns trigger language plpgsql as $$
begin
  raise exception 'a break begins open, not %', new.state using errcode = 'check_violation';
end $$;
create trigger guard_new_break before insert on tieout.breaks
  for each row when (new.state <> 'open') execute function tieout.guard_new_break();

-- Each break with what it has in common with others: one page, one batch, one delta, one text.
-- `cause` is the most telling of them; breaks of one cause can be decided together.
create view tieout.break_facts as
  select b.break_id, b.account_id, b.order_no, b.kind, b.state, b.first_seen, b.expected, b.actual,
    b.fingerprint, b.currency, b.amount, b.owner, b.note, b.waived_reason, b.waived_by,
    b.waiver_asked_by, b.waiver_asked_reason,
    coalesce(b.waiver_asked_for = b.fingerprint, false) and b.state = 'open' as waiver_waits,
    greatest(b.amount, f.stake) as stake, f.difference, f.page, f.batch, f.text,
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
    end as cause
  from tieout.breaks b
  left join lateral (
    select i.batch_id, nullif(concat_ws(' ', i.outcome_code, i.outcome_message), '') as text
    from tieout.instructions i
    where i.account_id = b.account_id and i.order_no = b.order_no
    order by i.instruction_id desc limit 1
  ) sent on b.kind in ('instruction_rejected', 'outcome_unknown')
  left join lateral (
    select r.business_date, o.page_no
    from tieout.run_accounts ra
    join tieout.runs r using (run_id)
    join tieout.asked_orders o on o.pull_id = ra.pull_id and o.account_id = b.account_id
      and o.order_no = b.order_no
    where ra.account_id = b.account_id and ra.pull_id is not null and not r.is_dry
    order by ra.business_date desc limit 1
  ) look on true
  cross join lateral (
    select tieout.break_stake(b.kind, b.expected, b.actual) as stake, sent.batch_id::text as batch,
      sent.text, b.account_id || ' of ' || look.business_date || ' no ' || look.page_no as page,
      case when b.kind = 'amount_mismatch' and b.actual ->> 'amount' ~ '^\d{1,18}\.\d\d$'
        then (b.actual ->> 'amount')::numeric - (b.expected ->> 'amount')::numeric end
        as difference
  ) f;

-- Down Migration
drop view tieout.break_facts;
drop trigger guard_new_break on tieout.breaks;
drop trigger guard_break on tieout.breaks;
drop function tieout.guard_new_break(), tieout.guard_break(),
  tieout.break_stake(text, jsonb, jsonb);
alter table tieout.break_events drop constraint break_events_cause_of_resolved,
  drop column decided_over, drop column decision_id, drop column is_claim, drop column cause,
  drop constraint break_events_event_check;
delete from tieout.break_events where event in ('noted', 'assigned', 'waiver_asked');
alter table tieout.break_events
  add constraint break_events_event_check check (event in ('opened', 'reopened', 'resolved',
    'waived', 'changed'));
alter table tieout.breaks drop column waived_limit, drop column waived_by,
  drop column waiver_asked_for, drop column waiver_asked_reason, drop column waiver_asked_by;
