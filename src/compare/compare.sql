-- What is the verdict on each order that fastMatch.sql left in pg_temp.unmatched? One row of
-- tieout.verdicts for every one that is not matched; the answer counts the matched by account. $1
-- run, $2 pull, $3 only orders whose page was answered (a second snapshot; the others keep their
-- first), $4 the table of positions (core/orders/verdict.ts), a list a column, $5 time of the
-- snapshot, $6 the date's end, $7 grace, $8 age of a stale authorisation, $9 $10 $11 tolerance
-- below, above, parts per million, $12 partial captures, $13 operations that are off, $14 accounts
-- [{account_id, live_from}]. The readable reference is core/orders/decideVerdict.ts; a test of
-- generated orders holds the two equal. Nearly all orders are settled by the fast match by one lean
-- join; only what is left goes through every check. Matched orders are counted where they are
-- found, never by subtraction: an order that a join lost must show as a run that does not tie.
with position_row as materialized (
  select expected, observed, ripe::boolean as ripe, decision, refunds, verdict, operation,
    break_kind
  from unnest(($4::text[])[1:1], ($4::text[])[2:2], ($4::text[])[3:3], ($4::text[])[4:4],
    ($4::text[])[5:5], ($4::text[])[6:6], ($4::text[])[7:7], ($4::text[])[8:8])
    as p (expected, observed, ripe, decision, refunds, verdict, operation, break_kind)
),
account as materialized (
  select account_id collate "C" as account_id, live_from
  from jsonb_to_recordset($14::jsonb) as a (account_id text, live_from timestamptz)
),
-- Orders with more than the one entry they were asked for: few, and judged as sets.
extra as materialized (
  select account_id, order_no, transaction_id, currency, amount, amount_text, state,
    payment_status, found, query_result, transaction_at, transaction_date
  from :look_entries where pull_id = $2::bigint and is_extra
),
crowded as materialized (
  select * from pg_temp.unmatched
  where (account_id, order_no) in (select account_id, order_no from extra)
),
crowd as materialized (
  select account_id, order_no, transaction_id, currency, amount, amount_text, state,
    payment_status, is_found, query_result, transaction_at, transaction_date, named,
    coalesce(state, '') not in ('cancelled', 'declined') as is_live
  from crowded
  where has_entry
  union
  select account_id, order_no, e.transaction_id, e.currency, e.amount, e.amount_text, e.state,
    e.payment_status, e.found, e.query_result, e.transaction_at, e.transaction_date, a.named,
    coalesce(e.state, '') not in ('cancelled', 'declined')
  from extra e join crowded a using (account_id, order_no)
),
candidate as materialized (
  select c.*,
    row_number() over (partition by account_id, order_no
      order by is_live desc, coalesce(transaction_at, 'epoch') desc, transaction_id desc) as place,
    bool_or(is_live) over (partition by account_id, order_no) as any_live
  from crowd c
),
chosen as materialized (
  select distinct on (account_id, order_no) *
  from candidate
  where case when named is not null then transaction_id = named else true end
  order by account_id, order_no, place
),
gathered as materialized (
  select g.*, t.order_no is null as absent,
    t.transaction_id is not null
      and (least_live <> t.transaction_id or greatest_live <> t.transaction_id) as duplicate,
    t.transaction_id, t.currency, t.amount, t.amount_text, t.state, t.payment_status,
    t.transaction_at
  from (
    select account_id, order_no,
      count(*) > count(distinct coalesce(transaction_id, '')) as contradictory,
      bool_or(not is_found) as unfound,
      bool_or(coalesce(transaction_id, '') = '' or payment_status is null) as malformed,
      coalesce(bool_or(amount is null or amount <= 0 or coalesce(currency, '') = '')
        filter (where case when named is not null then transaction_id = named
          when any_live then is_live else place = 1 end), false) as misshapen,
      bool_or(state is null) as meaningless,
      min(transaction_id) filter (where is_live) as least_live,
      max(transaction_id) filter (where is_live) as greatest_live,
      bool_or(transaction_at is null) as undated,
      min(transaction_at) as first_at
    from candidate
    group by account_id, order_no
  ) as g
  left join chosen t using (account_id, order_no)
),
refund as materialized (
  -- one request that is no amount makes the sum null, and the position `differs`; so does one that
  -- was paid and is gone (askRefunds.sql), was paid with another amount, or for another order
  select account_id, order_no, case when bool_and(coalesce(refund_amount > 0
      and refund_amount < 1e18 and refund_amount = round(refund_amount, 2), false)
      and is_as_paid) then sum(refund_amount) end as requested,
    coalesce(sum(refund_amount) filter (where is_done), 0) as explained,
    (array_agg(refund_id order by requested_at, refund_id) filter (where not is_done))[1]
      as oldest_id,
    (array_agg(refund_amount order by requested_at, refund_id) filter (where not is_done))[1]
      as oldest_amount,
    -- a request more or less is another situation, even where the sum is the same
    md5(string_agg(refund_id || ' ' || coalesce(refund_amount::text, 'gone'), ','
      order by refund_id)) as requests
  from (
    select r.account_id, r.order_no, r.refund_id, r.refund_amount, r.requested_at,
      coalesce(r.requested_at < a.live_from, false) or paid.order_no is not null as is_done,
      paid.order_no is null
        or (paid.order_no = r.order_no and paid.refund_amount = r.refund_amount) as is_as_paid
    from :asked_refunds r
    join account a on a.account_id = r.account_id
    join pg_temp.unmatched u on u.account_id = r.account_id and u.order_no = r.order_no
    left join lateral (
      select i.order_no, i.refund_amount from :instructions i
      where i.account_id = a.account_id and i.refund_id = r.refund_id
        and i.operation = 'refund' and i.state = 'confirmed' and not i.is_void
      offset 0
    ) paid on true
    where r.pull_id = $2
    -- asked once a request, not once for each of the columns above
    offset 0
  ) as request
  group by account_id, order_no
),
-- What we captured of orders of which less than the whole was captured, or is to be.
taken as materialized (
  select u.account_id, u.order_no, ours.transaction_id, ours.amount
  from pg_temp.unmatched u
  cross join lateral (
    select i.transaction_id, i.amount from :instructions i
    where i.account_id = u.account_id and i.order_no = u.order_no
      and i.operation = 'capture' and i.state = 'confirmed'
    offset 0
  ) ours
  where u.expected = 'captured' and (u.capture_amount <> u.ledger_amount
    or (u.account_id, u.order_no) in (
      select account_id, order_no from :instructions where is_part and state = 'confirmed'))
),
undecided as materialized (
  select account_id, order_no from :instructions
  where is_open and state = 'unknown' and operation <> 'payout'
),
seen as not materialized (
  select p.account_id, p.order_no, page_no, in_ledger, ledger_currency, ledger_amount, expected,
    named, capture_amount, review_decision, placed_at, ledger_problem,
    is_answered or (page_no is null and not in_ledger and has_entry) as looked,
    has_entry, false as contradictory, not is_found as unfound,
    coalesce(transaction_id, '') = '' or payment_status is null as malformed,
    named is not null and named <> transaction_id as absent,
    amount is null or amount <= 0 or coalesce(currency, '') = '' as misshapen,
    state is null as meaningless, false as duplicate, transaction_at is null as undated,
    transaction_at as first_at, transaction_id, currency, amount, amount_text, state,
    payment_status, transaction_at
  from pg_temp.unmatched p
  where (p.account_id, p.order_no) not in (select account_id, order_no from crowded)
  union all
  select p.account_id, p.order_no, p.page_no, p.in_ledger, p.ledger_currency, p.ledger_amount,
    p.expected, p.named, p.capture_amount, p.review_decision, p.placed_at, p.ledger_problem,
    p.is_answered or (p.page_no is null and not p.in_ledger), true, g.contradictory,
    g.unfound, g.malformed, g.absent, g.misshapen, g.meaningless, g.duplicate, g.undated,
    g.first_at, g.transaction_id, g.currency, g.amount, g.amount_text, g.state,
    g.payment_status, g.transaction_at
  from gathered g
  join crowded p using (account_id, order_no)
),
-- The checks that stand alone, in their order of precedence; `pair` goes on to the table.
staged as not materialized (
  select s.*,
    case
      -- what cannot be asked for lacks no snapshot: the row itself is what is wrong
      when s.page_no is null and s.ledger_problem is not null
        and (s.in_ledger or not s.has_entry) then null
      when s.page_no is null and (s.in_ledger or not s.has_entry) then 'separator'
      when s.looked is not true then 'no_look'
      when s.contradictory then 'contradictory'
      when s.unfound then 'query_result'
    end as not_compared,
    case
      when s.has_entry and s.malformed then 'invalid_record'
      when not s.in_ledger and not s.has_entry then 'gone'
      when not s.in_ledger and s.undated then 'invalid_record'
      when not s.in_ledger and s.first_at < $6::timestamptz
        and $5::timestamptz - s.first_at > $7::interval then 'missing_in_ledger'
      when not s.in_ledger then 'awaited'
      when s.ledger_problem is not null then 'invalid_record'
      when not s.has_entry then 'pair'
      when not s.absent and s.misshapen then 'invalid_record'
      when s.meaningless then 'unknown_status'
      when s.absent then 'transaction_mismatch'
      when s.duplicate then 'duplicate_transaction'
      else 'pair'
    end as stage,
    case when s.has_entry and not s.absent then s.state else 'missing' end as observed,
    case when $12::boolean then coalesce(s.capture_amount, s.ledger_amount)
      else s.ledger_amount end as refundable,
    r.oldest_id, r.oldest_amount, r.requests, coalesce(r.explained, 0) as explained,
    case when r.order_no is null then 0 else r.requested end as requested,
    u.order_no is not null as undecided
  from seen s
  left join refund r on r.account_id = s.account_id and r.order_no = s.order_no
  left join undecided u on u.account_id = s.account_id and u.order_no = s.order_no
  where $3::boolean is not true or s.looked
  -- worked out once a row: what is built on it would repeat it
  offset 0
),
placed as not materialized (
  select t.*, p.verdict, p.operation, p.break_kind, ours.amount as taken,
    coalesce(t.capture_amount, t.ledger_amount) as to_take,
    t.stage = 'pair' and t.observed <> 'missing' and case
      when ours.amount <> coalesce(t.capture_amount, t.ledger_amount) then true
      when t.amount = t.ledger_amount then false
      when $12 and t.observed in ('captured', 'partially_refunded', 'refunded')
        and t.amount = t.capture_amount then false
      else true end as unequal,
    t.stage = 'pair' and t.observed <> 'missing' and t.currency <> t.ledger_currency
      as foreign_money,
    t.stage = 'pair' and t.observed = 'authorised' and t.expected in ('captured', 'authorised')
      and $5 - coalesce(t.transaction_at, t.placed_at) > $8::interval as stale
  from staged t
  left join taken ours on t.stage = 'pair' and ours.account_id = t.account_id
    and ours.order_no = t.order_no and ours.transaction_id = t.transaction_id
    and t.observed in ('captured', 'partially_refunded', 'refunded')
  left join position_row p
    on t.stage = 'pair' and p.expected = t.expected and p.observed = t.observed
    and p.ripe = ($5 - t.placed_at > $7) and p.decision = coalesce(t.review_decision, 'none')
    and p.refunds = case
      when t.observed not in ('captured', 'partially_refunded', 'refunded')
        or t.expected not in ('captured', 'cancelled')
        or (t.expected = 'cancelled' and t.observed = 'refunded') then 'none'
      when t.observed = case when t.explained = 0 then 'captured'
          when t.explained < t.refundable then 'partially_refunded'
          when t.explained = t.refundable then 'refunded' end
        and t.requested <= t.refundable
        then case when t.oldest_id is null then 'settled' else 'open' end
      when t.observed = 'refunded' and t.requested = t.refundable then 'elsewhere'
      else 'differs' end
),
-- The one part that is gone through three times: only what is needed further on.
told as materialized (
  select account_id, order_no, in_ledger, not_compared, stage, verdict, operation, break_kind,
    unequal, foreign_money, stale, undecided, transaction_id, state, currency, amount, amount_text,
    payment_status, ledger_problem, expected, ledger_currency, ledger_amount, capture_amount,
    review_decision, refundable, explained, oldest_id, oldest_amount, requests, taken, to_take,
    not_compared is null and (
      stage = 'gone'
      or (stage = 'pair' and verdict = 'matched' and not unequal and not foreign_money
        and not stale and not undecided)) as is_matched
  from placed d
),
counted as (
  select account_id, count(*) as matched from told where is_matched and stage <> 'gone'
  group by account_id
),
-- From here on only what stands out, and what became of our own instructions for it. The newest one
-- for the same need supersedes the earlier ones, and counts unless a person wants it planned again;
-- a person's no counts whenever just the same would be asked, whatever was asked between, until
-- just that is planned again.
ours as materialized (
  select distinct on (d.account_id, d.order_no) d.account_id, d.order_no,
    i.state = 'rejected' and i.replan_id is null as is_rejected,
    coalesce(max(i.instruction_id) filter (where is_same
      and i.is_refused and i.replan_id is null) over one_need, 0)
      > coalesce(max(i.instruction_id) filter (where is_same
        and i.replan_id is not null) over one_need, 0) as is_refused,
    bool_or(i.state = 'confirmed') over one_need as is_confirmed
  from told d
  join :instructions i on i.account_id = d.account_id and i.order_no = d.order_no
    and i.operation = d.operation and i.transaction_id = d.transaction_id
    and (d.operation <> 'refund' or i.refund_id = d.oldest_id)
  cross join lateral (select i.currency = d.ledger_currency
    and i.amount = case when d.operation = 'capture'
      then coalesce(d.capture_amount, d.ledger_amount) else d.amount end
    and i.refund_amount is not distinct from
      case when d.operation = 'refund' then d.oldest_amount end
    and i.review_decision is not distinct from
      case when d.operation = 'review' then d.review_decision end as is_same) asks
  where d.verdict = 'need' and not d.is_matched
  window one_need as (partition by d.account_id, d.order_no)
  order by d.account_id, d.order_no, i.instruction_id desc
),
standing as not materialized (
  select d.*, i.is_rejected, i.is_refused, i.is_confirmed,
    unequal and not foreign_money
      and ($12 and coalesce(amount = capture_amount, false)
        and state in ('captured', 'partially_refunded', 'refunded')
        or case when amount < ledger_amount then ledger_amount - amount <= $9::numeric
          else amount - ledger_amount <= $10::numeric end
        or abs(amount - ledger_amount) * 1000000 <= ledger_amount * $11::bigint)
      and (taken is null
        or case when taken < to_take then to_take - taken <= $9 else taken - to_take <= $10 end
        or abs(taken - to_take) * 1000000 <= to_take * $11) as tolerated
  from told d
  left join ours i using (account_id, order_no)
  where not is_matched
),
difference as not materialized (
  select s.*, case
      when stage <> 'pair' then null
      when undecided and break_kind is distinct from 'missing_at_gateway' then 'outcome_unknown'
      when verdict = 'break' then break_kind
      when verdict <> 'need' then null
      when is_rejected then 'instruction_rejected'
      when is_confirmed or is_refused or operation = any ($13::text[]) then break_kind
      -- Sent for another order, to which the request or the transaction belonged: whatever became
      -- of it there, it moves once, and no instruction of this order could be made. The reference
      -- sees one order at a time, and is asked about instructions that were made.
      when exists (
        select from :instructions i
        where operation = 'refund' and i.account_id = s.account_id and i.refund_id = oldest_id
          and i.operation = 'refund' and not i.is_void and i.order_no <> s.order_no
          and i.state not in ('planned', 'held', 'queued')
        union all
        select from :instructions i
        where s.operation <> 'refund' and i.account_id = s.account_id
          and i.transaction_id = s.transaction_id and i.operation = s.operation
          and i.operation <> 'refund' and not i.is_void and i.order_no <> s.order_no
          and i.state not in ('planned', 'held', 'queued')) then break_kind
    end as position_kind
  from standing s
),
added as (
  insert into :verdicts (run_id, account_id, order_no, pull_id, in_ledger, not_compared,
    kinds, need, awaited, tolerated, transaction_id, gateway_state, gateway_currency,
    gateway_amount, gateway_amount_text, payment_status, ledger_problem, expected,
    ledger_currency, ledger_amount, need_amount, refund_id, refund_amount, completes,
    review_decision, requests, taken, to_take)
  select $1::bigint, account_id, order_no, $2, in_ledger, not_compared,
    case
      when not_compared is not null then '{}'
      when stage in ('invalid_record', 'unknown_status', 'transaction_mismatch',
        'duplicate_transaction', 'missing_in_ledger') then array[stage]
      when stage = 'pair' then array_remove(array[
        case when foreign_money then 'currency_mismatch' end,
        case when unequal and not tolerated then 'amount_mismatch' end,
        case when stale then 'stale_authorisation' end,
        position_kind], null)
      else '{}' end,
    case when is_need then operation end,
    not_compared is null and (stage = 'awaited' or verdict is not distinct from 'awaited'),
    not_compared is null and stage = 'pair' and tolerated,
    transaction_id, state, currency, amount, amount_text, payment_status, ledger_problem, expected,
    ledger_currency, ledger_amount,
    case when not is_need then null
      when operation = 'capture' then coalesce(capture_amount, ledger_amount)
      else amount end,
    case when is_need and operation = 'refund' then oldest_id end,
    case when is_need and operation = 'refund' then oldest_amount end,
    case when is_need and operation = 'refund' then explained + oldest_amount = refundable end,
    case when is_need and operation = 'review' then review_decision end,
    requests, case when taken <> to_take then taken end, case when taken <> to_take then to_take end
  from (
    select d.*, not_compared is null and stage = 'pair' and verdict = 'need'
      and position_kind is null and not unequal and not foreign_money as is_need
    from difference d
  ) as told
)
select a.account_id, coalesce(c.matched, 0) as matched
from account a
left join counted c on c.account_id = a.account_id
