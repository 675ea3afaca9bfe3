-- Up Migration
-- A break that had changed before it was waived stays at the money that was waived, which its
-- newest event has: nights before this wrote what it had become, and verify named it since.
update tieout.breaks b
set currency = e.currency, amount = e.amount
from (
  select distinct on (w.break_id) w.break_id, n.currency, n.amount
  from tieout.breaks w
  join tieout.break_events n using (break_id)
  where w.state = 'waived'
    and (tieout.is_settlement_kind(w.kind) or w.kind = 'payout_rejected')
  order by w.break_id, n.event_id desc
) e
where b.break_id = e.break_id and (b.currency, b.amount) is distinct from (e.currency, e.amount);

-- Down Migration
-- What was put right stays right.
select;
