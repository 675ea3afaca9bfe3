-- Accounts whose books at the gateway may not close at zero: a movement without a line, one whose
-- lines may say another amount, a line without a movement. $1 accounts.
select m.account_id
from (
  select movement_id from tieout.settlement_awaited
  union all
  select * from unnest(tieout.movements_told_of())
) open
join tieout.movements m using (movement_id)
where m.account_id = any ($1::text[])
union
select l.account_id
from tieout.settlement_unmatched u
join tieout.settlement_lines l using (settlement_line_id)
where l.account_id = any ($1)
order by account_id
