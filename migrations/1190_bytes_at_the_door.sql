-- Up Migration
-- A column of a merchant's view may fold cases or accents (a nondeterministic collation). What
-- comes through the door are the bytes that it has, whatever the column takes for equal: two
-- numbers that differ in case are two orders, and a number can be looked through by its parts
-- before PostgreSQL 18, too. Words keep the collation of the database, by which names are compared
-- without their case.
CREATE OR REPLACE FUNCTION tieout.ledger_disputes()
 RETURNS TABLE(
  account_id text, dispute_id text, order_no text, transaction_id text, currency text, amount
  numeric, stage text, at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select d.account_id, d.dispute_id, d.order_no, nullif(d.transaction_id, ''),
    left(d.currency, 16), tieout.usable_amount(d.amount), left(d.stage, 32),
    tieout.usable_instant(d.at),
    case
      when coalesce(d.dispute_id, '') = '' then 'it has no dispute_id'
      when tieout.id_problem(d.dispute_id) is not null
        then 'its dispute_id ' || tieout.id_problem(d.dispute_id)
      when coalesce(d.order_no, d.transaction_id, '') = ''
        then 'it names neither an order nor a transaction'
      when d.stage is null or d.stage not in ('opened', 'won', 'lost', 'withdrawn')
        then 'its stage is none of opened, won, lost, withdrawn'
          || coalesce(': ' || left(d.stage, 32), '')
      when d.amount is null or not (d.amount > 0 and d.amount < 1e18)
        or d.amount <> round(d.amount, 2)
        then 'its amount ' || tieout.amount_problem(d.amount, d.amount_text)
      when tieout.usable_instant(d.at) is null
        then coalesce('its at ' || left(d.at_text, 40)
          || ' is no time with a zone within the years 1970 to 2999', 'it has no at')
    end
  from (
    select q.account_id::text collate "C" as account_id,
      q.dispute_id::text collate "C" as dispute_id,
      q.order_no::text collate "C" as order_no,
      q.transaction_id::text collate "C" as transaction_id,
      q.currency::text collate "default" as currency,
      tieout.amount_in(q.amount) as amount,
      q.amount::text as amount_text,
      q.stage::text collate "default" as stage,
      tieout.instant_in(q.at) as at, q.at::text as at_text
    from ledger.disputes q
  ) d
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_orders(currencies text[], coarse jsonb, separator text)
 RETURNS TABLE(
  account_id text, order_no text, currency text, amount numeric, expected text, transaction_id
  text, capture_amount numeric, review_decision text, placed_at timestamp with time zone,
  problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select l.account_id, l.order_no, left(l.currency, 16), tieout.usable_amount(l.amount),
    left(l.expected, 32),
    case when octet_length(l.transaction_id) <= 512 then nullif(l.transaction_id, '') end,
    tieout.usable_amount(l.capture_amount), left(l.review_decision, 16),
    tieout.placed_instant(l.placed_at),
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
      when tieout.too_fine(min_scale(l.amount), l.currency, coarse) is not null
        then tieout.too_fine(min_scale(l.amount), l.currency, coarse) || ', and its amount is '
          || l.amount
      when l.expected is null
        or l.expected not in ('authorised', 'captured', 'cancelled', 'declined')
        then 'what it expects is no known state' || coalesce(': ' || left(l.expected, 32), '')
      when not coalesce(l.capture_amount > 0 and l.capture_amount <= l.amount
        and l.capture_amount = round(l.capture_amount, 2), true)
        then 'its capture_amount ' || left(l.capture_text, 40) || ' is not within its amount'
      when tieout.too_fine(min_scale(l.capture_amount), l.currency, coarse) is not null
        then tieout.too_fine(min_scale(l.capture_amount), l.currency, coarse)
          || ', and its capture_amount is ' || l.capture_amount
      when l.review_decision not in ('accept', 'reject')
        then 'its review_decision is neither accept nor reject: '
          || coalesce(nullif(left(l.review_decision, 16), ''), 'it is an empty text')
      when tieout.id_problem(l.transaction_id) is not null
        then 'its transaction_id ' || tieout.id_problem(l.transaction_id)
      when tieout.usable_instant(l.placed_at) is not null
        and tieout.placed_instant(l.placed_at) is null
        then 'its placed_at ' || left(l.placed_text, 40) || ' lies more than a day ahead'
      when tieout.usable_instant(l.placed_at) is null
        then coalesce('its placed_at ' || left(l.placed_text, 40)
          || ' is no time with a zone within the years 1970 to 2999', 'it has no placed_at')
    end
  from (
    select o.account_id::text collate "C" as account_id,
      o.order_no::text collate "C" as order_no,
      o.currency::text collate "default" as currency, tieout.amount_in(o.amount) as amount,
      o.amount::text as amount_text,
      o.expected::text collate "default" as expected,
      o.transaction_id::text collate "C" as transaction_id,
      tieout.amount_in(o.capture_amount) as capture_amount, o.capture_amount::text as capture_text,
      o.review_decision::text collate "default" as review_decision,
      tieout.instant_in(o.placed_at) as placed_at, o.placed_at::text as placed_text
    from ledger.orders o
  ) l
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_payouts()
 RETURNS TABLE(
  account_id text, request_id text, payload jsonb, requested_at timestamp with time zone,
  problem text)
 LANGUAGE sql
 STABLE
AS $function$
  select p.account_id, p.request_id, tieout.payout_payload(p.payload),
    tieout.usable_instant(p.requested_at),
    case when p.request_id !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then 'its request_id is no UUID'
      else coalesce(tieout.payout_problem(p.payload, p.requested_at), case
        when tieout.placed_instant(p.requested_at) is null
        then 'its requested_at lies more than a day ahead' end) end
  from (
    select q.account_id::text collate "C" as account_id,
      lower(q.request_id::text collate "C") as request_id,
      tieout.payload_in(q.payload) as payload,
      tieout.instant_in(q.requested_at) as requested_at
    from ledger.payout_requests q
  ) p
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_refunds()
 RETURNS TABLE(
  account_id text, refund_id text, order_no text, refund_amount numeric, reason text,
  requested_by text, requested_at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
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
      when tieout.placed_instant(r.requested_at) is null
        then 'its refund request ' || left(r.refund_id, 64) || ': requested_at '
          || left(r.requested_text, 40) || ' lies more than a day ahead'
      when length(r.reason) > 1000 or length(r.requested_by) > 1000
        then 'its refund request ' || left(r.refund_id, 64)
          || ': reason or requested_by is longer than 1,000 characters'
    end
  from (
    select q.account_id::text collate "C" as account_id,
      q.refund_id::text collate "C" as refund_id,
      q.order_no::text collate "C" as order_no,
      tieout.amount_in(q.refund_amount) as refund_amount,
      q.refund_amount::text as amount_text,
      q.reason::text collate "default" as reason,
      q.requested_by::text collate "default" as requested_by,
      tieout.instant_in(q.requested_at) as requested_at,
      q.requested_at::text as requested_text
    from ledger.refund_requests q
  ) r
$function$;

-- Down Migration
CREATE OR REPLACE FUNCTION tieout.ledger_disputes()
 RETURNS TABLE(
  account_id text, dispute_id text, order_no text, transaction_id text, currency text, amount
  numeric, stage text, at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select d.account_id, d.dispute_id, d.order_no, nullif(d.transaction_id, ''),
    left(d.currency, 16), tieout.usable_amount(d.amount), left(d.stage, 32),
    tieout.usable_instant(d.at),
    case
      when coalesce(d.dispute_id, '') = '' then 'it has no dispute_id'
      when tieout.id_problem(d.dispute_id) is not null
        then 'its dispute_id ' || tieout.id_problem(d.dispute_id)
      when coalesce(d.order_no, d.transaction_id, '') = ''
        then 'it names neither an order nor a transaction'
      when d.stage is null or d.stage not in ('opened', 'won', 'lost', 'withdrawn')
        then 'its stage is none of opened, won, lost, withdrawn'
          || coalesce(': ' || left(d.stage, 32), '')
      when d.amount is null or not (d.amount > 0 and d.amount < 1e18)
        or d.amount <> round(d.amount, 2)
        then 'its amount ' || tieout.amount_problem(d.amount, d.amount_text)
      when tieout.usable_instant(d.at) is null
        then coalesce('its at ' || left(d.at_text, 40)
          || ' is no time with a zone within the years 1970 to 2999', 'it has no at')
    end
  from (
    select q.account_id::text as account_id, q.dispute_id::text as dispute_id,
      q.order_no::text as order_no, q.transaction_id::text as transaction_id,
      q.currency::text as currency, tieout.amount_in(q.amount) as amount,
      q.amount::text as amount_text, q.stage::text as stage,
      tieout.instant_in(q.at) as at, q.at::text as at_text
    from ledger.disputes q
  ) d
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_orders(currencies text[], coarse jsonb, separator text)
 RETURNS TABLE(
  account_id text, order_no text, currency text, amount numeric, expected text, transaction_id
  text, capture_amount numeric, review_decision text, placed_at timestamp with time zone,
  problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select l.account_id, l.order_no, left(l.currency, 16), tieout.usable_amount(l.amount),
    left(l.expected, 32),
    case when octet_length(l.transaction_id) <= 512 then nullif(l.transaction_id, '') end,
    tieout.usable_amount(l.capture_amount), left(l.review_decision, 16),
    tieout.placed_instant(l.placed_at),
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
      when tieout.too_fine(min_scale(l.amount), l.currency, coarse) is not null
        then tieout.too_fine(min_scale(l.amount), l.currency, coarse) || ', and its amount is '
          || l.amount
      when l.expected is null
        or l.expected not in ('authorised', 'captured', 'cancelled', 'declined')
        then 'what it expects is no known state' || coalesce(': ' || left(l.expected, 32), '')
      when not coalesce(l.capture_amount > 0 and l.capture_amount <= l.amount
        and l.capture_amount = round(l.capture_amount, 2), true)
        then 'its capture_amount ' || left(l.capture_text, 40) || ' is not within its amount'
      when tieout.too_fine(min_scale(l.capture_amount), l.currency, coarse) is not null
        then tieout.too_fine(min_scale(l.capture_amount), l.currency, coarse)
          || ', and its capture_amount is ' || l.capture_amount
      when l.review_decision not in ('accept', 'reject')
        then 'its review_decision is neither accept nor reject: ' || left(l.review_decision, 16)
      when tieout.id_problem(l.transaction_id) is not null
        then 'its transaction_id ' || tieout.id_problem(l.transaction_id)
      when tieout.usable_instant(l.placed_at) is not null
        and tieout.placed_instant(l.placed_at) is null
        then 'its placed_at ' || left(l.placed_text, 40) || ' lies more than a day ahead'
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
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_payouts()
 RETURNS TABLE(
  account_id text, request_id text, payload jsonb, requested_at timestamp with time zone,
  problem text)
 LANGUAGE sql
 STABLE
AS $function$
  select p.account_id, p.request_id, tieout.payout_payload(p.payload),
    tieout.usable_instant(p.requested_at),
    case when p.request_id !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then 'its request_id is no UUID'
      else coalesce(tieout.payout_problem(p.payload, p.requested_at), case
        when tieout.placed_instant(p.requested_at) is null
        then 'its requested_at lies more than a day ahead' end) end
  from (
    select q.account_id::text as account_id, lower(q.request_id::text) as request_id,
      tieout.payload_in(q.payload) as payload,
      tieout.instant_in(q.requested_at) as requested_at
    from ledger.payout_requests q
  ) p
$function$;

CREATE OR REPLACE FUNCTION tieout.ledger_refunds()
 RETURNS TABLE(
  account_id text, refund_id text, order_no text, refund_amount numeric, reason text,
  requested_by text, requested_at timestamp with time zone, problem text)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
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
      when tieout.placed_instant(r.requested_at) is null
        then 'its refund request ' || left(r.refund_id, 64) || ': requested_at '
          || left(r.requested_text, 40) || ' lies more than a day ahead'
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
$function$;
