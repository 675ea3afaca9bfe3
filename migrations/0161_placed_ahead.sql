-- Up Migration
-- An order placed more than a day ahead is a slip of the keyboard: no night would come to it, and
-- its authorisation would lapse. It is as good as one without a time: looked at, and told.
create function tieout.placed_instant(at timestamptz) returns timestamptz
language sql stable parallel safe as $$
  select case when at <= now() + interval '1 day' then tieout.usable_instant(at) end
$$;

create or replace function tieout.ledger_orders(currencies text[], coarse jsonb, separator text)
returns table (account_id text, order_no text, currency text, amount numeric, expected text,
  transaction_id text, capture_amount numeric, review_decision text,
  placed_at timestamptz, problem text)
language sql stable parallel safe as $$
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
$$;

-- Down Migration
create or replace function tieout.ledger_orders(currencies text[], coarse jsonb, separator text)
returns table (account_id text, order_no text, currency text, amount numeric, expected text,
  transaction_id text, capture_amount numeric, review_decision text,
  placed_at timestamptz, problem text)
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

drop function tieout.placed_instant(timestamptz);
