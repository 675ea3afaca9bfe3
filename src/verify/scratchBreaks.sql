-- The breaks of some accounts as a run found them: those that were not resolved as they were kept
-- then, and the resolved ones, of which only that they exist counts. $1 the working that began it,
-- $2 the accounts.
insert into pg_temp.breaks (break_id, account_id, order_no, kind, state, first_seen, first_run_id,
  last_run_id, expected, actual, fingerprint, currency, amount)
select b.break_id, b.account_id, b.order_no, b.kind, coalesce(c.state, 'resolved'), b.first_seen,
  b.first_run_id, coalesce(c.last_run_id, b.last_run_id), coalesce(c.expected, b.expected),
  coalesce(c.actual, b.actual), coalesce(c.fingerprint, b.fingerprint),
  case when c.break_id is null then b.currency else c.currency end,
  case when c.break_id is null then b.amount else c.amount end
from tieout.workings w
join tieout.breaks b on b.account_id = any ($2::text[])
left join tieout.carried_breaks c on c.working_id = w.working_id and c.break_id = b.break_id
where w.working_id = $1::bigint and (c.break_id is not null or exists (
  select from tieout.break_events e
  where e.break_id = b.break_id
    -- those of no order are opened outside of a compare: what happened to them is given, too
    and (e.event_id <= w.last_break_event or tieout.stands_apart(b.kind))))
