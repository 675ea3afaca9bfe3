-- What the gateway showed moved of one order, and what the acquirer settled of it, one row:
-- movements with the lines that settle them, and lines of the order. Found by its number, by its
-- transactions and by what was matched. $1 account, $2 order.
with moved as materialized (
  select * from tieout.movements_now where account_id = $1 and order_no = $2
),
line as materialized (
  select l.* from tieout.settlement_lines l
  where l.account_id = $1 and l.order_no = $2
    -- a capture that names a transaction is found by that, or waits
    and (l.transaction_id is null or l.type <> 'captured')
  union
  select l.* from tieout.settlement_unmatched u
  join tieout.settlement_lines l using (settlement_line_id)
  where u.order_no = $2 and l.account_id = $1
  union
  select l.* from tieout.settlement_lines l
  where l.account_id = $1 and l.transaction_id in (select transaction_id from moved)
    -- as breaks stand: also where the line calls the order something else
    and tieout.place_of_line(l) = $2
  union
  select l.* from moved
  cross join lateral tieout.lines_of_movement(moved.movement_id) s (settlement_line_id)
  join tieout.settlement_lines l using (settlement_line_id)
)
select jsonb_build_object(
  'movements', coalesce((
    select jsonb_agg(jsonb_build_object('businessDate', m.business_date, 'kind', m.kind,
      'made', m.made, 'currency', m.currency, 'amount', round(m.amount, 2)::text,
      'transaction', m.transaction_id, 'reference', m.reference,
      'instructionId', m.instruction_id::text, 'isHistory', m.is_history,
      'knownBy', m.known_by, 'batches', coalesce((
        select jsonb_agg(l.batch order by l.settlement_line_id)
        from tieout.settlement_matches t join line l using (settlement_line_id)
        where t.movement_id = m.movement_id), '[]')) order by m.movement_id)
    from moved m), '[]'),
  'lines', coalesce((
    select jsonb_agg(jsonb_build_object('batch', l.batch, 'line', l.line_id, 'type', l.type,
      'bookedAt', l.booked_at, 'currency', l.currency, 'amount', l.amount::text,
      'settleCurrency', l.settle_currency, 'gross', l.gross::text, 'fee', l.fee::text,
      'net', l.net::text, 'matchedBy', t.by, 'movedOn', m.business_date)
      order by l.settlement_line_id)
    from line l
    left join tieout.settlement_matches t using (settlement_line_id)
    left join tieout.movements m using (movement_id)), '[]')) as money
