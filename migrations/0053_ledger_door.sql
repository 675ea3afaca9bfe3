-- Up Migration
-- The door to the ledger. Its relations may be views, which check nothing: what the columns behind
-- cannot hold comes through here as null, or cut, with the reason beside it. Everything that goes
-- into a look reads the ledger through these functions. They are functions with their text as it
-- is, no views, so that a merchant may replace a relation of the ledger at any time; the server
-- puts their text in place, so that they cost what the relation costs.

-- An amount that a row can be; NaN and infinity sort above every number.
create function tieout.usable_amount(amount numeric) returns numeric
language sql immutable parallel safe as $$
  select case when amount > 0 and amount < 1e18 then amount end
$$;

-- An instant that is one: the years are those that an import takes, no infinity.
create function tieout.usable_instant(at timestamptz) returns timestamptz
language sql immutable parallel safe as $$
  select case when at >= '1970-01-01T00:00:00Z'::timestamptz
    and at < '3000-01-01T00:00:00Z'::timestamptz then at end
$$;

-- Why an amount is none; null: it is one.
create function tieout.amount_problem(amount numeric) returns text
language sql immutable parallel safe as $$
  select case
    when amount is null then 'is missing, and so not above zero'
    when not (amount > 0 and amount < 1e18) then
      left(amount::text, 40) || ' is not above zero, or has more than 18 digits before the point'
    when amount <> round(amount, 2) then left(amount::text, 40) || ' has more than two decimals'
  end
$$;

-- Why an identifier is none that an index can hold.
create function tieout.id_problem(id text) returns text
language sql immutable parallel safe as $$
  select case when octet_length(id) > 512 then left(id, 40) || '... is longer than 512 bytes' end
$$;

drop function tieout.ledger_problem(text, numeric, text, numeric, text, timestamptz, text[],
  text[]);

-- Orders. `problem`: why the row cannot be used; null: it can. `currencies` are those that
-- hundredths can express, `whole` those of them without decimals, `separator` that of the list in
-- which orders are asked for; empty: they are not asked for by number.
create function tieout.ledger_orders(currencies text[], whole text[], separator text)
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

-- Refund requests, the same. The currency is their order's: see tieout.has_part.
create function tieout.ledger_refunds()
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

-- A part of a unit: what a currency without decimals cannot express.
create function tieout.has_part(amount numeric) returns boolean
language sql immutable parallel safe as $$
  select coalesce(amount <> trunc(amount), false)
$$;

-- The payload of a payout request as it is kept and compared: as it is, or where it is no object or
-- one that nobody would send, its digest.
create function tieout.payout_payload(payload jsonb) returns jsonb
language sql immutable parallel safe as $$
  select case when jsonb_typeof(payload) = 'object' and octet_length(payload::text) <= 65536
      and not jsonb_path_exists(payload, '$.**{33}') then payload
    else jsonb_build_object('unusable', md5(coalesce(payload::text, ''))) end
$$;

-- Why a payout request cannot be used; null: the row itself allows it.
create function tieout.payout_problem(payload jsonb, requested_at timestamptz) returns text
language sql immutable parallel safe as $$
  select case
    when payload is null or jsonb_typeof(payload) <> 'object'
      then 'its payload is not the JSON of one object'
    when octet_length(payload::text) > 65536 then 'its payload is larger than 64 KB'
    when jsonb_path_exists(payload, '$.**{33}')
      then 'its payload is nested deeper than 32 levels'
    when requested_at is null then 'it has no requested_at'
    when tieout.usable_instant(requested_at) is null
      then 'its requested_at is not within the years 1970 to 2999'
  end
$$;

-- As before, through the door: a decision about one instruction meets what stands in the ledger,
-- and a row that is none, or stands there twice, must not fail the batch of all others.
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
        'amount', l.amount::numeric(20, 2)::text,
        'captureAmount', l.capture_amount::numeric(20, 2)::text,
        'transaction', nullif(l.transaction_id, ''), 'reviewDecision', l.review_decision,
        'placedAt', l.placed_at at time zone 'UTC')
      from ledger.orders l
      where l.account_id collate "C" = i.account_id and l.order_no collate "C" = i.order_no),
    'refundRequests', (
      select jsonb_agg(jsonb_build_object('refundId', r.refund_id,
        'amount', r.refund_amount::numeric(20, 2)::text, 'reason', r.reason,
        'requestedBy', r.requested_by, 'requestedAt', r.requested_at at time zone 'UTC')
        order by r.refund_id collate "C")
      from ledger.refund_requests r
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
      from ledger.payout_requests p
      where p.account_id collate "C" = i.account_id
        and p.request_id::text collate "C" = i.transaction_id)) else '{}' end
$$;
drop function tieout.payout_problem(jsonb, timestamptz), tieout.payout_payload(jsonb),
  tieout.has_part(numeric), tieout.ledger_refunds(),
  tieout.ledger_orders(text[], text[], text), tieout.id_problem(text),
  tieout.amount_problem(numeric), tieout.usable_instant(timestamptz),
  tieout.usable_amount(numeric);
create function tieout.ledger_problem(currency text, amount numeric, expected text,
  capture_amount numeric, review_decision text, placed_at timestamptz, currencies text[],
  whole text[])
returns text language sql immutable as $$
  select case
    when amount is null or not (amount > 0 and amount < 1e18) then 'its amount is not above zero'
    when amount <> round(amount, 2) then 'its amount has more than two decimals'
    when currency is null or not currency = any (currencies)
      then 'its currency is unknown, or has more than two decimals and is not in the profile'
    when currency = any (whole) and amount <> trunc(amount) then 'its currency has no decimals'
    when expected is null or expected not in ('authorised', 'captured', 'cancelled', 'declined')
      then 'what it expects is no known state'
    when not coalesce(capture_amount > 0 and capture_amount <= amount
      and capture_amount = round(capture_amount, 2), true)
      then 'its capture_amount is not within its amount'
    when review_decision not in ('accept', 'reject')
      then 'its review_decision is neither accept nor reject'
    when placed_at is null then 'it has no placed_at'
  end
$$;
