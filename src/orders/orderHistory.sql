-- One order's whole history, one row: the ledger, every look, what we sent and what came back, its
-- breaks. $1 account, $2 order, $3 how many of the newest pulls are searched.
select jsonb_build_object(
  'ledger', (select to_jsonb(l) || jsonb_build_object(
      'amount', tieout.shown_amount(tieout.amount_in(l.amount), l.amount::text),
      'capture_amount',
      tieout.shown_amount(tieout.amount_in(l.capture_amount), l.capture_amount::text))
    from ledger.orders l
    where l.account_id::text collate "C" = $1 and l.order_no::text collate "C" = $2 limit 1),
  'refundRequests', coalesce((select jsonb_agg(to_jsonb(r) || jsonb_build_object('refund_amount',
      tieout.shown_amount(tieout.amount_in(r.refund_amount), r.refund_amount::text))
      order by r.requested_at)
    from ledger.refund_requests r
    where r.account_id::text collate "C" = $1 and r.order_no::text collate "C" = $2), '[]'),
  -- by the number of the order, and by the transactions that it is known to have
  'disputes', coalesce((select jsonb_agg(jsonb_build_object('disputeId', d.dispute_id,
      'stage', d.stage, 'currency', d.currency, 'amount', round(d.amount, 2)::text,
      'transaction', d.transaction_id, 'at', d.at, 'batch', d.batch, 'problem', d.problem)
      order by d.at)
    from tieout.known_disputes() d
    where d.account_id = $1 and (d.order_no = $2 or d.transaction_id in (
      select l.transaction_id::text collate "C" from ledger.orders l
      where l.account_id::text collate "C" = $1 and l.order_no::text collate "C" = $2
      union select i.transaction_id from tieout.instructions i
      where i.account_id = $1 and i.order_no = $2))), '[]'),
  'ledgerChanges', coalesce((select jsonb_agg(jsonb_build_object('at', c.noted_at,
      'kind', c.kind, 'before', c.before, 'after', c.after) order by c.run_id)
    from tieout.ledger_changes c where c.account_id = $1 and c.order_no = $2), '[]'),
  'looks', coalesce((
    select jsonb_agg(jsonb_build_object('pull', p.pull_id, 'at', p.as_of, 'kind', p.kind,
        'businessDate', (select business_date from tieout.runs r where r.run_id = p.run_id),
        'page', a.page_no, 'answer', case
          when a.page_no is null and a.in_ledger then 'not asked: its number holds the separator'
          when a.page_no is null then 'answered without being asked'
          when g.state = 'answered' then 'answered'
          else coalesce('failed: ' || g.reason, 'open') end,
        'entries', coalesce((
          select jsonb_agg(jsonb_build_object('transaction', e.transaction_id, 'state', e.state,
            'code', e.payment_status, 'amount', coalesce(e.amount::text, e.amount_text),
            'currency', e.currency, 'date', e.transaction_date, 'asked', e.is_asked)
            order by e.page_no, e.position)
          from (
            select * from tieout.look_entries p where p.pull_id = a.pull_id
              and p.account_id = $1 and p.order_no = $2 and not p.is_extra
            union all
            select * from tieout.look_entries x where x.pull_id = a.pull_id
              and x.account_id = $1 and x.order_no = $2 and x.is_extra
          ) as e), '[]'))
      order by p.pull_id)
    from (select * from tieout.pulls order by pull_id desc limit $3) p
    join tieout.asked_orders a on a.pull_id = p.pull_id and a.account_id = $1 and a.order_no = $2
    left join tieout.pages g
      on g.pull_id = a.pull_id and g.account_id = a.account_id and g.page_no = a.page_no
  ), '[]'),
  'breaks', coalesce((select jsonb_agg(jsonb_build_object('id', b.break_id, 'kind', b.kind,
      'state', b.state, 'firstSeen', b.first_seen, 'expected', b.expected, 'actual', b.actual,
      'owner', b.owner, 'note', b.note, 'waivedBy', b.waived_by,
      'waivedReason', b.waived_reason, 'events', (
        select jsonb_agg(jsonb_build_object('at', e.at, 'event', e.event, 'by', e.by,
          'isClaim', e.is_claim, 'reason', e.reason, 'cause', e.cause,
          'decidedOver', e.decided_over, 'businessDate', (
            select r.business_date from tieout.runs r where r.run_id = e.run_id),
          'expected', e.expected, 'actual', e.actual) order by e.event_id)
        from tieout.break_events e where e.break_id = b.break_id)) order by b.break_id)
    from tieout.breaks b where b.account_id = $1 and b.order_no = $2), '[]'),
  'instructions', coalesce((
    select jsonb_agg(jsonb_build_object('id', i.instruction_id, 'operation', i.operation,
        'state', i.state, 'amount', coalesce(i.refund_amount, i.amount)::text,
        'isInTotals', i.is_in_totals, 'currency', i.currency,
        'transaction', i.transaction_id, 'refundId', i.refund_id,
        'holdReason', i.hold_reason, 'reason', i.reason, 'gatewayCode', i.outcome_code,
        'gatewayMessage', i.outcome_message, 'gatewayReference', i.gateway_reference,
        'refundReference', i.refund_reference, 'payout', i.payout_answer,
        'hintedAt', (select h.hinted_at from tieout.payout_hints h
          where h.instruction_id = i.instruction_id and i.is_open),
        'events', (select jsonb_agg(jsonb_build_object('at', e.at, 'from', e.from_state,
            'to', e.to_state, 'by', e.by, 'reason', e.reason) order by e.seq)
          from tieout.instruction_events e where e.instruction_id = i.instruction_id),
        'decisions', coalesce((select jsonb_agg(jsonb_build_object('at', d.at,
            'decision', d.decision, 'by', d.decided_by, 'isClaim', d.is_claim, 'reason', d.reason,
            'reference', d.reference, 'finding', d.finding, 'seenSha256', d.seen_sha256)
            order by d.decision_id)
          from tieout.decisions d where d.instruction_id = i.instruction_id), '[]'),
        'attempts', coalesce((select jsonb_agg(jsonb_build_object('id', t.attempt_id,
            'claimedAt', t.claimed_at, 'outcome', t.outcome, 'reason', t.reason,
            'answer', (select w.http_status from tieout.answers w
              where w.attempt_id = t.attempt_id)) order by t.batch_id, t.attempt_no)
          from tieout.attempts_of(i) t), '[]'))
      order by i.instruction_id)
    from tieout.instructions i where i.account_id = $1 and i.order_no = $2
  ), '[]')) as history
