-- What waits in a batch and what is true now of its orders: one row for each queued instruction,
-- in the order in which they are sent.
-- $1 batch, $2 minutes after which a snapshot is too old to send by, $3 $4 currencies, $5 the
-- profile of who claims: what was read by another one tells it nothing.
with recent as materialized (
  select p.pull_id, p.as_of, r.ends_at
  from tieout.pulls p
  join tieout.runs r using (run_id)
  where p.as_of > clock_timestamp() - make_interval(mins => $2::int) and not r.is_dry
    and coalesce(p.profile_sha256 = $5, true)
    -- one from before the database was put back, or before a person let go what it was stopped for,
    -- does not know what others sent since
    and p.as_of > coalesce((
      select max(b.at) from tieout.brakes b
      where b.account_id is null and b.kind in ('freeze', 'put_back')), '-infinity')
),
-- what a person moved by hand: a snapshot comes after it by the count of snapshots, whatever clocks
-- say; while its end is not on record it may still be on its way for a minute
called as materialized (
  select account_id, entries, looks_before, at + interval '1 minute' as over_at
  from tieout.gateway_calls
  where outcome is null and at > clock_timestamp() - make_interval(mins => $2::int)
    and at <= clock_timestamp()
  union all
  select account_id, entries, looks_before, null
  from tieout.gateway_calls
  where looks_before >= (select min(tieout.drawn_as(pull_id)) from recent)
  union all
  -- on record from before looks were counted
  select account_id, entries, null, coalesce(ended_at, at + interval '1 minute')
  from tieout.gateway_calls
  where looks_before is null and at > clock_timestamp() - make_interval(mins => $2::int)
),
wanted as materialized (
  select instruction_id, account_id, order_no, transaction_id, currency, amount::text as amount,
    refund_id, refund_amount::text as refund_amount, refund_reason, review_decision,
    payload,
    -- what is sent a second time goes by a snapshot of its own, begun after that was decided; what
    -- a person moved by hand meanwhile (tieout gateway), by one begun after that was answered
    greatest(
      case when resends > 0 and again_after_look is null
        then (select max(e.at) from tieout.instruction_events e
          where e.instruction_id = i.instruction_id and e.from_state = 'unknown') end,
      by_hand.over_at
    ) as again_at,
    greatest(again_after_look, by_hand.looks_before) as again_after,
    -- why its approval no longer holds
    case when i.approval_id is not null then tieout.approval_lapse(i) end as lapse,
    i.approval_id is not null as is_approved,
    operation = 'refund' and tieout.has_dispute(i.account_id, i.order_no, i.transaction_id)
      as has_dispute,
    (select d.row_before ->> 'hold_reason' from tieout.decisions d
      where d.decision_id = i.approval_id) as approved_for,
    -- as it is now, as the newest plan found, which knows more of that, and as it once waited
    case when doubles.reasons <> '{}' or i.doubled is not null or still.doubled is not null
      then tieout.unseen(i, doubles.reasons || string_to_array(i.doubled, ' ') || still.doubled)
      end as doubled,
    still.restored and tieout.unseen(i, '{restored}') is not null as restored, still.freed,
    still.left_disputed
  from tieout.instructions i
  cross join lateral tieout.waits_still(i) still
  cross join lateral (
    select array(
      select d.reason from tieout.doubles(i.account_id, i.order_no, i.operation, i.transaction_id,
        i.refund_id, i.refund_amount, i.currency) d
      where i.operation <> 'review') as reasons
    offset 0
  ) doubles
  cross join lateral (
    select max(c.over_at) as over_at, max(c.looks_before) as looks_before from called c
    where c.account_id = i.account_id
        and c.entries @> jsonb_build_array(jsonb_build_object('order_no', i.order_no))
      or c.entries @> jsonb_build_array(jsonb_build_object('transaction_id', i.transaction_id))
  ) by_hand
  where batch_id = $1::bigint and state = 'queued'
)
select w.*, look.answered_at as snapshot_at, look.as_of, look.ends_at as date_end,
  (select json_build_object('expected', l.expected, 'currency', l.currency,
      'problem', case when l.copies > 1 then 'it stands in the ledger more than once'
        else coalesce(l.problem, (
          select coalesce(min(r.problem),
            case when count(*) > count(distinct r.refund_id)
              then 'a refund request of it stands in the ledger more than once'
            else tieout.too_fine(max(min_scale(r.refund_amount)), l.currency, $4::jsonb)
              || ', and a refund request of it asks for less' end)
          from tieout.ledger_refunds() r
          where r.account_id collate "C" = w.account_id and r.order_no collate "C" = w.order_no
        )) end,
      'amount', l.amount::text, 'capture_amount', l.capture_amount::text,
      'transaction_id', l.transaction_id, 'review_decision', l.review_decision,
      'placed_at', l.placed_at)
    from (
      select l.*, count(*) over () as copies
      from tieout.ledger_orders($3::text[], $4::jsonb, '') l
      where l.account_id collate "C" = w.account_id and l.order_no collate "C" = w.order_no
    ) l
    limit 1
  ) as ledger,
  coalesce((select json_agg(json_build_object('transaction_id', e.transaction_id,
      'currency', e.currency, 'amount', e.amount::text, 'amount_text', e.amount_text,
      'payment_status', e.payment_status, 'state', e.state, 'found', e.found,
      'query_result', e.query_result, 'transaction_at', e.transaction_at,
      'transaction_date', e.transaction_date))
    from (
      select * from tieout.look_entries plain
      where plain.pull_id = look.pull_id and plain.account_id = w.account_id
        and plain.order_no = w.order_no and not plain.is_extra
      union all
      select * from tieout.look_entries extra
      where extra.pull_id = look.pull_id and extra.account_id = w.account_id
        and extra.order_no = w.order_no and extra.is_extra
    ) e
  ), '[]') as entries,
  -- a review is the merchant's own answer to the fraud check
  w.review_decision is null and exists (
    select from tieout.look_entries e
    where e.pull_id = look.pull_id and e.account_id = w.account_id and e.order_no = w.order_no
      and e.transaction_id = w.transaction_id and e.fraud_rejected) as is_fraud,
  coalesce((select json_agg(json_build_object('refund_id', r.refund_id,
      'amount', round(r.refund_amount, 2)::text, 'requested_at', r.requested_at,
      'is_paid_elsewhere', exists (select from tieout.instructions paid
        where paid.account_id = w.account_id and paid.refund_id = r.refund_id collate "C"
          and paid.operation = 'refund' and paid.state = 'confirmed' and not paid.is_void
          and paid.order_no <> w.order_no)))
    from tieout.ledger_refunds() r
    where r.account_id collate "C" = w.account_id and r.order_no collate "C" = w.order_no
      and r.problem is null
  ), '[]') as refunds,
  coalesce((select json_agg(json_build_object('operation', i.operation,
      'transaction_id', i.transaction_id, 'currency', i.currency, 'amount', i.amount::text,
      'refund_id', i.refund_id, 'refund_amount', i.refund_amount::text,
      'review_decision', i.review_decision, 'state', i.state, 'is_refused', i.is_refused,
      'is_replanned', i.replan_id is not null, 'is_part', i.is_part) order by i.instruction_id)
    from tieout.instructions i
    where i.account_id = w.account_id and i.order_no = w.order_no
      and i.instruction_id <> w.instruction_id
  ), '[]') as instructions
from wanted w
left join lateral (
  select recent.pull_id, page.answered_at, recent.as_of, recent.ends_at
  from recent
  -- one after the other by their keys: joined, all pages of the snapshot would be read for each
  -- order
  cross join lateral (
    select a.page_no from tieout.asked_orders a
    where a.pull_id = recent.pull_id and a.account_id = w.account_id
      and a.order_no = w.order_no offset 0
  ) asked
  cross join lateral (
    -- in time or not is asked of those that show the order alone: it looks through all later ones
    select p.answered_at, tieout.is_in_time(recent.pull_id, recent.as_of) as is_in_time
    from tieout.pages p
    where p.pull_id = recent.pull_id and p.account_id = w.account_id
      and p.page_no = asked.page_no and p.state = 'answered' offset 0
  ) page
  where page.is_in_time and (w.again_at is null or recent.as_of > w.again_at)
    and (w.again_after is null or tieout.drawn_as(recent.pull_id) > w.again_after)
  order by recent.pull_id desc
  limit 1
) look on true
order by w.instruction_id
