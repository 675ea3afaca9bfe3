-- Reports that were written, newest night first: of each who took it last. One of a month or a day
-- that was asked for stands at the night that was the newest then; its revisions are counted over
-- all nights. A report holds all accounts of its night, so that it is shown only to those who may
-- see all of them; one of a month or a day holds those of every night in it, and is for those who
-- have their role for all accounts. These see every report, whichever accounts left the
-- configuration. $1 the accounts of the reader, $2 one report, or null: those of a page of nights
-- that have one, $3 nights, $4 offset, $5 whether the role is for all accounts; $6 and $7 the same
-- for what the reader may take away.
select p.report_id, run_id, r.business_date, r.state as run_state, p.kind, p.period, p.format,
  p.revision, p.sha256, p.bytes, p.written_at, p.path, p.host,
  not exists (
    select from tieout.reports n
    where p.period is null and n.run_id = p.run_id and n.period is null and n.kind = p.kind
      and n.format = p.format and n.revision > p.revision and n.state = 'written'
  ) and not exists (
    select from tieout.reports n
    where n.period = p.period and n.kind = p.kind and n.format = p.format
      and n.revision > p.revision and n.state = 'written' and n.report_id > 0
  ) as is_newest,
  (select count(*) from tieout.console_events e
    where e.action = 'download' and e.subject = 'report ' || p.report_id)::int as times_taken,
  $7::boolean or (p.period is null and tieout.sees_run($6, r.run_id)) as may_take,
  coalesce((
    select jsonb_agg(jsonb_build_object('who', e.who, 'at', e.at) order by e.event_id desc)
    from (
      select * from tieout.console_events e
      where e.action = 'download' and e.subject = 'report ' || p.report_id
      order by e.event_id desc
      limit 5
    ) e), '[]') as taken
from (
  select run_id, business_date, state from tieout.runs r
  where $2::bigint is not null or (not is_dry
    and ($5::boolean or tieout.sees_run($1, r.run_id))
    and exists (
      select from tieout.reports p where p.run_id = r.run_id and p.state = 'written'
        and (p.period is null or $5)))
  order by business_date desc
  limit $3 offset $4
) r
join tieout.reports p using (run_id)
where p.state = 'written' and ($2 is null or p.report_id = $2)
  and ($5 or (p.period is null and tieout.sees_run($1, r.run_id)))
order by r.business_date desc, p.kind desc, p.period desc nulls first,
  p.format, p.revision desc
