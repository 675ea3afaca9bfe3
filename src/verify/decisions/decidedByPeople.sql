-- What people decided, of one kind, with the number of the link that sealed it. What tieout does
-- by a rule is no decision; that a brake or a freeze is let go, or a break waived, always is one.
-- $1 kind of fact, $2 after this id, $3 how many.
with decided as (
  select 'decision' as what, decision_id as id, account_id, link_id from tieout.decisions
  union all
  select 'break', e.event_id, b.account_id, e.link_id
  from tieout.break_events e join tieout.breaks b using (break_id)
  where e.by <> 'tieout' or e.event = 'waived'
  union all
  select 'day', event_id, account_id, link_id from tieout.day_events
  union all
  select 'brake', seq, '', link_id from tieout.brakes
  where by <> 'tieout' or (not is_on and kind in ('brake', 'freeze'))
  union all
  select 'redaction', redaction_id, '', link_id from tieout.redactions
)
select d.id, d.account_id as "accountId", l.link_no as "linkNo"
from decided d
left join tieout.chain_links l
  on l.link_id = d.link_id and l.account_id = d.account_id and l.what = d.what
where d.what = $1 and d.id > $2::bigint
order by d.id limit $3
