-- All breaks that match, oldest first, with what a decision over many of them is bound to: what is
-- seen of each, and the newest event of its trail. $1 to $13 as tieout.found_breaks has them, $14
-- at most so many. With "+ 0" the newest event is not looked for from the end of all events, which
-- reads them whole for every break.
select f.break_id::text as "breakId", f.account_id as "accountId", f.order_no as "orderNo",
  f.state, f.currency, f.owner, f.note,
  round(f.stake, 2)::text as stake,
  tieout.waiver_stake(f.kind, f.currency, f.amount, f.expected, f.actual)::text as "waiverStake",
  case when f.waiver_waits then f.waiver_asked_by end as "waiverAskedBy",
  f.first_seen as "firstSeen",
  tieout.break_seen_sha256(f.state, f.expected, f.actual, f.fingerprint) as seen,
  coalesce((select max(e.event_id + 0) from tieout.break_events e
    where e.break_id = f.break_id), 0)::text as last
from tieout.found_breaks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) f
order by f.first_seen, f.break_id
limit $14
