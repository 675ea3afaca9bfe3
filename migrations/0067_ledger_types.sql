-- Up Migration
-- The door takes the columns of a merchant's view whatever their type: what is no number or no time
-- is the problem of its row, and numbers of orders and accounts may be integers or UUIDs. Which of
-- the functions of one name is meant the server finds out by the type of the column, once a
-- statement; for the types of our own tables they are nothing at all.

create function tieout.amount_in(amount numeric) returns numeric
language sql immutable parallel safe as $$ select amount $$;

create function tieout.amount_in(amount bigint) returns numeric
language sql immutable parallel safe as $$ select amount::numeric $$;

-- Of a float only what it prints is meant; infinity is no number to older servers.
create function tieout.amount_in(amount double precision) returns numeric
language sql immutable parallel safe as $$
  select case when abs(amount) < 1e30 then amount::numeric
    when amount is not null then 'NaN'::numeric end
$$;

-- Digits, a point, digits: a sign, a space, an exponent or a thousands mark is none.
create function tieout.amount_in(amount text) returns numeric
language sql immutable parallel safe as $$
  select case when amount collate "C" ~ '^-?[0-9]{1,30}([.][0-9]{1,30})?$' then amount::numeric
    when amount is not null then 'NaN'::numeric end
$$;

create function tieout.instant_in(at timestamptz) returns timestamptz
language sql immutable parallel safe as $$ select at $$;

-- ISO 8601 with zone, as an import takes it.
create function tieout.instant_in(at text) returns timestamptz
language sql stable parallel safe as $$
  select case when at collate "C" ~ ('^(19[7-9][0-9]|2[0-9]{3})-('
      || '(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)'
      || '|(0[13578]|1[02])-31|02-29)'
      || '[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?'
      || '(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)$')
    then case when substr(at, 6, 5) <> '02-29' or substr(at, 1, 4)::int % 4 = 0
        and (substr(at, 1, 4)::int % 100 <> 0 or substr(at, 1, 4)::int % 400 = 0)
      then at::timestamptz end
  end
$$;

create function tieout.payload_in(payload jsonb) returns jsonb
language sql immutable parallel safe as $$ select payload $$;

-- What is no JSON that can be kept (a NUL, half a character, a number without end) is none.
create function tieout.payload_in(payload text) returns jsonb
language plpgsql stable as $$
begin
  return payload::jsonb;
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;

create function tieout.payload_in(payload json) returns jsonb
language sql stable as $$ select tieout.payload_in(payload::text) $$;

create function tieout.amount_problem(amount numeric, shown text) returns text
language sql immutable parallel safe as $$
  select case when amount = 'NaN' then left(shown, 40) || ' is no number, such as 12.34'
    else tieout.amount_problem(amount) end
$$;

-- As before, for columns of any type.
create or replace function tieout.ledger_orders(currencies text[], whole text[], separator text)
returns table (account_id text, order_no text, currency text, amount numeric, expected text,
  transaction_id text, capture_amount numeric, review_decision text, placed_at timestamptz,
  problem text)
language sql stable parallel safe as $$
  select l.account_id, l.order_no, left(l.currency, 16), tieout.usable_amount(l.amount),
    left(l.expected, 32),
    case when octet_length(l.transaction_id) <= 512 then nullif(l.transaction_id, '') end,
    tieout.usable_amount(l.capture_amount), left(l.review_decision, 16),
    tieout.usable_instant(l.placed_at),
    case
      when separator <> '' and (l.order_no = '' or position(separator in l.order_no) > 0)
        then 'its number cannot be asked for: it is empty or contains "' || separator
          || '" (query.orderList.separator of the profile)'
      when l.amount is null or not (l.amount > 0 and l.amount < 1e18)
        or l.amount <> round(l.amount, 2)
        then 'its amount ' || tieout.amount_problem(l.amount, l.amount_text)
      when l.currency is null or not l.currency = any (currencies)
        then 'its currency is unknown, or has more than two decimals and is not in the profile'
          || coalesce(': ' || left(l.currency, 16), '')
      when l.currency = any (whole) and l.amount <> trunc(l.amount)
        then 'its currency has no decimals, and its amount is ' || l.amount
      when l.expected is null
        or l.expected not in ('authorised', 'captured', 'cancelled', 'declined')
        then 'what it expects is no known state' || coalesce(': ' || left(l.expected, 32), '')
      when not coalesce(l.capture_amount > 0 and l.capture_amount <= l.amount
        and l.capture_amount = round(l.capture_amount, 2), true)
        then 'its capture_amount ' || left(l.capture_text, 40) || ' is not within its amount'
      when l.currency = any (whole) and l.capture_amount <> trunc(l.capture_amount)
        then 'its currency has no decimals, and its capture_amount is ' || l.capture_amount
      when l.review_decision not in ('accept', 'reject')
        then 'its review_decision is neither accept nor reject: ' || left(l.review_decision, 16)
      when tieout.id_problem(l.transaction_id) is not null
        then 'its transaction_id ' || tieout.id_problem(l.transaction_id)
      when tieout.usable_instant(l.placed_at) is null
        then coalesce('its placed_at ' || left(l.placed_text, 40)
          || ' is no time with a zone within the years 1970 to 2999', 'it has no placed_at')
    end
  from (
    select o.account_id::text as account_id, o.order_no::text as order_no,
      o.currency::text as currency, tieout.amount_in(o.amount) as amount,
      o.amount::text as amount_text, o.expected::text as expected,
      o.transaction_id::text as transaction_id,
      tieout.amount_in(o.capture_amount) as capture_amount, o.capture_amount::text as capture_text,
      o.review_decision::text as review_decision,
      tieout.instant_in(o.placed_at) as placed_at, o.placed_at::text as placed_text
    from ledger.orders o
  ) l
$$;

create or replace function tieout.ledger_refunds()
returns table (account_id text, refund_id text, order_no text, refund_amount numeric, reason text,
  requested_by text, requested_at timestamptz, problem text)
language sql stable parallel safe as $$
  select r.account_id, r.refund_id, r.order_no, tieout.usable_amount(r.refund_amount), r.reason,
    r.requested_by, tieout.usable_instant(r.requested_at),
    case
      when coalesce(r.refund_id, '') = '' then 'a refund request of it has no refund_id'
      when tieout.id_problem(r.refund_id) is not null
        then 'the refund_id of a request of it ' || tieout.id_problem(r.refund_id)
      when r.refund_amount is null or not (r.refund_amount > 0 and r.refund_amount < 1e18)
        or r.refund_amount <> round(r.refund_amount, 2)
        then 'its refund request ' || left(r.refund_id, 64) || ': the amount '
          || tieout.amount_problem(r.refund_amount, r.amount_text)
      when tieout.usable_instant(r.requested_at) is null
        then 'its refund request ' || left(r.refund_id, 64)
          || coalesce(': requested_at ' || left(r.requested_text, 40)
            || ' is no time with a zone within the years 1970 to 2999', ' has no requested_at')
      when length(r.reason) > 1000 or length(r.requested_by) > 1000
        then 'its refund request ' || left(r.refund_id, 64)
          || ': reason or requested_by is longer than 1,000 characters'
    end
  from (
    select q.account_id::text as account_id, q.refund_id::text as refund_id,
      q.order_no::text as order_no, tieout.amount_in(q.refund_amount) as refund_amount,
      q.refund_amount::text as amount_text, q.reason::text as reason,
      q.requested_by::text as requested_by, tieout.instant_in(q.requested_at) as requested_at,
      q.requested_at::text as requested_text
    from ledger.refund_requests q
  ) r
$$;

-- Payout requests, the same. A UUID has one spelling, whatever text it came from.
create function tieout.ledger_payouts()
returns table (account_id text, request_id text, payload jsonb, requested_at timestamptz,
  problem text)
language sql stable as $$
  select p.account_id, p.request_id, tieout.payout_payload(p.payload),
    tieout.usable_instant(p.requested_at),
    case when p.request_id !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then 'its request_id is no UUID'
      else tieout.payout_problem(p.payload, p.requested_at) end
  from (
    select q.account_id::text as account_id, lower(q.request_id::text) as request_id,
      tieout.payload_in(q.payload) as payload,
      tieout.instant_in(q.requested_at) as requested_at
    from ledger.payout_requests q
  ) p
$$;

create or replace function tieout.seen_at(i tieout.instructions, pull bigint) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'instruction', jsonb_build_object('id', i.instruction_id, 'account', i.account_id,
      'order', i.order_no, 'operation', i.operation, 'transaction', i.transaction_id,
      'currency', i.currency, 'amount', i.amount::text, 'refundId', i.refund_id,
      'refundAmount', i.refund_amount::text, 'refundReason', i.refund_reason,
      'reviewDecision', i.review_decision, 'askedBy', to_jsonb(i.asked_by)),
    'ledger', (
      select jsonb_build_object('expected', l.expected, 'currency', l.currency,
        'amount', round(l.amount, 2)::text, 'captureAmount', round(l.capture_amount, 2)::text,
        'transaction', l.transaction_id, 'reviewDecision', l.review_decision,
        'placedAt', l.placed_at at time zone 'UTC')
      from tieout.ledger_orders('{}', '{}', '') l
      where l.account_id collate "C" = i.account_id and l.order_no collate "C" = i.order_no
      order by l.placed_at, l.amount limit 1),
    'refundRequests', (
      select jsonb_agg(jsonb_build_object('refundId', left(r.refund_id, 512),
        'amount', round(r.refund_amount, 2)::text, 'reason', left(r.reason, 1000),
        'requestedBy', left(r.requested_by, 1000),
        'requestedAt', r.requested_at at time zone 'UTC')
        order by r.refund_id collate "C")
      from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.order_no collate "C" = i.order_no),
    'gateway', (
      select jsonb_agg(distinct jsonb_build_object('transaction', e.transaction_id,
        'state', e.state, 'code', e.payment_status, 'currency', e.currency,
        'amount', coalesce(e.amount::text, e.amount_text), 'found', e.found,
        'fraudRejected', e.fraud_rejected))
      from tieout.look_entries e
      where e.pull_id = pull and e.account_id = i.account_id and e.order_no = i.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)))
    || case when i.operation = 'payout' then jsonb_build_object('payout', (
      -- whom it pays and what for, and a digest of all of it
      select jsonb_build_object('amount', p.payload ->> 'payment_amount',
        'currency', p.payload ->> 'payment_currency', 'beneficiary', coalesce(
          p.payload #>> '{beneficiary,company_name}', concat_ws(' ',
            p.payload #>> '{beneficiary,first_name}', p.payload #>> '{beneficiary,last_name}')),
        'beneficiaryId', p.payload ->> 'beneficiary_id',
        'reference', p.payload ->> 'reference', 'reason', p.payload ->> 'reason',
        'sha256', tieout.seen_sha256(p.payload))
      from (
        select p.payload from tieout.ledger_payouts() p
        where p.account_id collate "C" = i.account_id
          and p.request_id collate "C" = i.transaction_id
        order by p.requested_at limit 1) p)) else '{}' end
$$;

-- Down Migration
create or replace function tieout.seen_at(i tieout.instructions, pull bigint) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'instruction', jsonb_build_object('id', i.instruction_id, 'account', i.account_id,
      'order', i.order_no, 'operation', i.operation, 'transaction', i.transaction_id,
      'currency', i.currency, 'amount', i.amount::text, 'refundId', i.refund_id,
      'refundAmount', i.refund_amount::text, 'refundReason', i.refund_reason,
      'reviewDecision', i.review_decision, 'askedBy', to_jsonb(i.asked_by)),
    'ledger', (
      select jsonb_build_object('expected', l.expected, 'currency', l.currency,
        'amount', round(l.amount, 2)::text, 'captureAmount', round(l.capture_amount, 2)::text,
        'transaction', l.transaction_id, 'reviewDecision', l.review_decision,
        'placedAt', l.placed_at at time zone 'UTC')
      from tieout.ledger_orders('{}', '{}', '') l
      where l.account_id collate "C" = i.account_id and l.order_no collate "C" = i.order_no
      order by l.placed_at, l.amount limit 1),
    'refundRequests', (
      select jsonb_agg(jsonb_build_object('refundId', left(r.refund_id, 512),
        'amount', round(r.refund_amount, 2)::text, 'reason', left(r.reason, 1000),
        'requestedBy', left(r.requested_by, 1000),
        'requestedAt', r.requested_at at time zone 'UTC')
        order by r.refund_id collate "C")
      from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.order_no collate "C" = i.order_no),
    'gateway', (
      select jsonb_agg(distinct jsonb_build_object('transaction', e.transaction_id,
        'state', e.state, 'code', e.payment_status, 'currency', e.currency,
        'amount', coalesce(e.amount::text, e.amount_text), 'found', e.found,
        'fraudRejected', e.fraud_rejected))
      from tieout.look_entries e
      where e.pull_id = pull and e.account_id = i.account_id and e.order_no = i.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)))
    || case when i.operation = 'payout' then jsonb_build_object('payout', (
      -- whom it pays and what for, and a digest of all of it
      select jsonb_build_object('amount', p.payload ->> 'payment_amount',
        'currency', p.payload ->> 'payment_currency', 'beneficiary', coalesce(
          p.payload #>> '{beneficiary,company_name}', concat_ws(' ',
            p.payload #>> '{beneficiary,first_name}', p.payload #>> '{beneficiary,last_name}')),
        'beneficiaryId', p.payload ->> 'beneficiary_id',
        'reference', p.payload ->> 'reference', 'reason', p.payload ->> 'reason',
        'sha256', tieout.seen_sha256(p.payload))
      from (
        select tieout.payout_payload(p.payload) as payload from ledger.payout_requests p
        where p.account_id collate "C" = i.account_id
          and p.request_id::text collate "C" = i.transaction_id
        order by p.requested_at limit 1) p)) else '{}' end
$$;

drop function tieout.ledger_payouts();
create or replace function tieout.ledger_orders(currencies text[], whole text[], separator text)
returns table (account_id text, order_no text, currency text, amount numeric, expected text,
  transaction_id text, capture_amount numeric, review_decision text, placed_at timestamptz,
  problem text)
language sql stable parallel safe as $$
  select l.account_id::text, l.order_no::text, left(l.currency::text, 16),
    tieout.usable_amount(l.amount::numeric), left(l.expected::text, 32),
    case when octet_length(l.transaction_id::text) <= 512 then nullif(l.transaction_id::text, '')
      end,
    tieout.usable_amount(l.capture_amount::numeric), left(l.review_decision::text, 16),
    tieout.usable_instant(l.placed_at::timestamptz),
    case
      when separator <> '' and (l.order_no = '' or position(separator in l.order_no) > 0)
        then 'its number cannot be asked for: it is empty or contains "' || separator
          || '" (query.orderList.separator of the profile)'
      when l.amount is null or not (l.amount > 0 and l.amount < 1e18)
        or l.amount <> round(l.amount::numeric, 2)
        then 'its amount ' || tieout.amount_problem(l.amount::numeric)
      when l.currency is null or not l.currency = any (currencies)
        then 'its currency is unknown, or has more than two decimals and is not in the profile'
          || coalesce(': ' || left(l.currency, 16), '')
      when l.currency = any (whole) and l.amount <> trunc(l.amount)
        then 'its currency has no decimals, and its amount is ' || l.amount
      when l.expected is null
        or l.expected not in ('authorised', 'captured', 'cancelled', 'declined')
        then 'what it expects is no known state' || coalesce(': ' || left(l.expected, 32), '')
      when not coalesce(l.capture_amount > 0 and l.capture_amount <= l.amount
        and l.capture_amount = round(l.capture_amount::numeric, 2), true)
        then 'its capture_amount ' || left(l.capture_amount::text, 40)
          || ' is not within its amount'
      when l.currency = any (whole) and l.capture_amount <> trunc(l.capture_amount)
        then 'its currency has no decimals, and its capture_amount is ' || l.capture_amount
      when l.review_decision not in ('accept', 'reject')
        then 'its review_decision is neither accept nor reject: ' || left(l.review_decision, 16)
      when tieout.id_problem(l.transaction_id) is not null
        then 'its transaction_id ' || tieout.id_problem(l.transaction_id)
      when l.placed_at is null then 'it has no placed_at'
      when tieout.usable_instant(l.placed_at) is null
        then 'its placed_at ' || l.placed_at || ' is not within the years 1970 to 2999'
    end
  from ledger.orders l
$$;

create or replace function tieout.ledger_refunds()
returns table (account_id text, refund_id text, order_no text, refund_amount numeric, reason text,
  requested_by text, requested_at timestamptz, problem text)
language sql stable parallel safe as $$
  select r.account_id::text, r.refund_id::text, r.order_no::text,
    tieout.usable_amount(r.refund_amount::numeric), r.reason::text, r.requested_by::text,
    tieout.usable_instant(r.requested_at::timestamptz),
    case
      when coalesce(r.refund_id, '') = '' then 'a refund request of it has no refund_id'
      when tieout.id_problem(r.refund_id) is not null
        then 'the refund_id of a request of it ' || tieout.id_problem(r.refund_id)
      when r.refund_amount is null or not (r.refund_amount > 0 and r.refund_amount < 1e18)
        or r.refund_amount <> round(r.refund_amount::numeric, 2)
        then 'its refund request ' || left(r.refund_id, 64) || ': the amount '
          || tieout.amount_problem(r.refund_amount::numeric)
      when r.requested_at is null
        then 'its refund request ' || left(r.refund_id, 64) || ' has no requested_at'
      when tieout.usable_instant(r.requested_at) is null
        then 'its refund request ' || left(r.refund_id, 64) || ': requested_at '
          || r.requested_at || ' is not within the years 1970 to 2999'
      when length(r.reason) > 1000 or length(r.requested_by) > 1000
        then 'its refund request ' || left(r.refund_id, 64)
          || ': reason or requested_by is longer than 1,000 characters'
    end
  from ledger.refund_requests r
$$;

drop function tieout.amount_problem(numeric, text), tieout.payload_in(json),
  tieout.payload_in(text), tieout.payload_in(jsonb), tieout.instant_in(text),
  tieout.instant_in(timestamptz), tieout.amount_in(text), tieout.amount_in(double precision),
  tieout.amount_in(bigint), tieout.amount_in(numeric);
