-- Everything that is known of one instruction, for a person who has to decide about it: itself,
-- what it is bound to, with why it waits; decisions, moves, attempts with their answers, the
-- snapshots before and after it was sent, what may have been sent of it and was forgotten, and the
-- references that the gateway gave to refunds of the same transaction.
-- $1 instruction, $2 looks at most, $3 permits that a database which was put back has lost, $4 of
-- which accounts ids may be named | null: of all.
with one as (
  select i.*, i as whole, tieout.seen_of(i) as seen
  from tieout.instructions i where instruction_id = $1::bigint
),
attempt as (
  select t.* from one cross join lateral tieout.attempts_of(one.whole) t
),
look as (
  select p.pull_id, g.answered_at,
    g.answered_at < (select min(claimed_at) from attempt) as is_before,
    (select coalesce(jsonb_agg(jsonb_build_object('transaction', e.transaction_id,
        'state', e.state, 'code', e.payment_status,
        'amount', coalesce(e.amount::text, e.amount_text), 'currency', e.currency)
        order by e.transaction_id), '[]')
      from tieout.look_entries e
      where e.pull_id = p.pull_id and e.account_id = one.account_id
        and e.order_no = one.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)) as entries
  from one
  cross join (select * from tieout.pulls order by pull_id desc limit 400) p
  join tieout.asked_orders a
    on a.pull_id = p.pull_id and a.account_id = one.account_id and a.order_no = one.order_no
  join tieout.pages g
    on g.pull_id = a.pull_id and g.account_id = a.account_id and g.page_no = a.page_no
  where g.state = 'answered'
  order by p.pull_id desc limit $2::int
),
-- Lost payouts, with their requests, for which this one may stand.
twin as materialized (
  select l.attempt_id, l.entry
  from one
  cross join lateral tieout.stray_payouts(
    array[one.amount, tieout.amount_in(one.payload ->> 'payment_amount')]) l
  where one.operation = 'payout' and l.currency = one.currency
    and tieout.came_by(l.found_at, one.account_id, one.transaction_id, one.created_at)
),
-- What came of it is known to nobody; by what it is found again as in plan.sql.
named as (
  select l.attempt_id, l.entry
  from one join tieout.lost_moves l
    on (l.account_id = one.account_id or l.transaction_id = one.transaction_id)
    and replace(l.operation, 'cancel', 'capture') = replace(one.operation, 'cancel', 'capture')
    and case when l.order_no is not null
        then l.order_no = one.order_no or l.refund_id = one.refund_id
          or l.transaction_id = one.transaction_id
      else l.currency = one.currency
        and l.amount = round(coalesce(one.refund_amount, one.amount), 2)::text end
  union
  select * from twin
),
forgotten as (
  select l.operation, l.amount, tieout.typed_money(l, one.whole) as money, l.currency,
    case when may.see then l.account_id end as "accountId",
    case when may.see then l.refund_id end as "refundId",
    case when may.see then l.transaction_id end as "transactionId", l.sent_at as "sentAt", l.host
  from one cross join named
  join tieout.lost_permits l using (attempt_id, entry)
  cross join lateral (
    select $4::text[] is null or l.account_id = any ($4) as see
  ) may
  order by l.sent_at desc limit $3::int
)
select jsonb_build_object(
  'id', i.instruction_id::text, 'accountId', i.account_id, 'orderNo', i.order_no,
  'operation', i.operation, 'state', i.state, 'transactionId', i.transaction_id,
  'currency', i.currency, 'amount', i.amount::text, 'refundId', i.refund_id,
  'refundAmount', i.refund_amount::text, 'refundReason', i.refund_reason,
  'reviewDecision', i.review_decision, 'isInTotals', i.is_in_totals,
  'holdReason', i.hold_reason, 'reason', i.reason, 'thenHeldFor', case when i.state = 'held'
    then nullif(tieout.unseen_double(i.whole), i.hold_reason) end,
  'askedBy', to_jsonb(i.asked_by), 'createdAt', i.created_at, 'settledAt', i.settled_at,
  'isRefused', i.is_refused, 'isReplanned', i.replan_id is not null,
  'isDisputed', i.is_disputed, 'outcomeCode', i.outcome_code,
  'outcomeMessage', i.outcome_message, 'gatewayReference', i.gateway_reference,
  'refundReference', i.refund_reference, 'payout', i.payout_answer,
  'hintedAt', (select h.hinted_at from tieout.payout_hints h
    where h.instruction_id = i.instruction_id and i.is_open),
  'businessDate', (select r.business_date from tieout.runs r where r.run_id = i.run_id),
  'batch', (select jsonb_build_object('id', b.batch_id::text, 'state', b.state,
      'reason', b.reason) from tieout.batches b where b.batch_id = i.batch_id),
  'payee', case when i.operation = 'payout' and i.state = 'held' then tieout.payee(i.whole) end,
  'seen', i.seen, 'seenSha256', tieout.shown_sha256(i.whole, i.seen),
  'approval', (select jsonb_build_object('by', d.decided_by, 'at', d.at,
      'expiresAt', d.expires_at, 'lapse', (
        select tieout.approval_lapse(plain) from tieout.instructions plain
        where plain.instruction_id = i.instruction_id))
    from tieout.decisions d where d.decision_id = i.approval_id),
  'decisions', coalesce((select jsonb_agg(jsonb_build_object('at', d.at, 'decision', d.decision,
      'by', d.decided_by, 'isClaim', d.is_claim, 'reason', d.reason, 'reference', d.reference,
      'finding', d.finding, 'expiresAt', d.expires_at, 'seen', d.seen,
      'seenSha256', d.seen_sha256) order by d.decision_id)
    from tieout.decisions d where d.instruction_id = i.instruction_id), '[]'),
  'events', (select jsonb_agg(jsonb_build_object('at', e.at, 'from', e.from_state,
      'to', e.to_state, 'by', e.by, 'reason', e.reason) order by e.seq)
    from tieout.instruction_events e where e.instruction_id = i.instruction_id),
  'attempts', coalesce((select jsonb_agg(jsonb_build_object('id', t.attempt_id,
      'claimedAt', t.claimed_at, 'finishedAt', t.finished_at, 'sendBy', t.send_by,
      'outcome', t.outcome, 'reason', t.reason, 'host', t.host, 'pid', t.pid,
      'entries', jsonb_array_length(t.entries), 'bodySha256', t.body_sha256,
      'request', encode(t.request_gzip, 'base64'), 'answer', (
        select jsonb_build_object('receivedAt', w.received_at, 'status', w.http_status,
          'bytes', length(w.body), 'body', encode(w.body, 'base64'))
        from tieout.answers w where w.attempt_id = t.attempt_id))
      order by t.batch_id, t.attempt_no)
    from attempt t), '[]'),
  'looks', coalesce((select jsonb_agg(jsonb_build_object('at', l.answered_at,
      'isBefore', l.is_before, 'entries', l.entries) order by l.pull_id) from look l), '[]'),
  'lostPermits', coalesce((select jsonb_agg(p order by p."sentAt") from forgotten p), '[]'),
  'references', coalesce((select jsonb_agg(other.gateway_reference
      order by other.gateway_reference)
    from tieout.instructions other
    where other.account_id = i.account_id and other.order_no = i.order_no
      and other.operation = 'refund' and other.transaction_id = i.transaction_id
      and other.gateway_reference is not null), '[]')) as sheet
from one i
