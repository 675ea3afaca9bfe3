-- The plain ones, nearly all there are: lines that wait, and movements that wait, of one
-- transaction, kind, currency and amount. What a reference names is left to matchLines.sql. $1
-- accounts.
create temp table settlement_pairs on commit drop as
select l.settlement_line_id, m.movement_id
from tieout.settlement_unmatched u
join tieout.settlement_lines l using (settlement_line_id)
join tieout.movements m on m.account_id = l.account_id and m.transaction_id = l.transaction_id
  and m.kind = l.type and m.amount = abs(l.amount) and m.currency = l.currency
join tieout.settlement_awaited w using (movement_id)
where l.account_id = any ($1)
  and (l.reference is null or not exists (
    select from tieout.movements r
    where r.account_id = l.account_id and r.reference = l.reference and r.kind = l.type))
  -- of these more became known
  and not exists (select from tieout.movement_amounts a where a.movement_id = m.movement_id)
order by l.settlement_line_id
