-- Up Migration
-- Who closed and who locked a day since it was last open, and on which revision: for the statement
-- in the console and in the workbook.
create function tieout.day_signings(of_date date, accounts text[])
returns table (account_id text, events jsonb) language sql stable as $$
  select e.account_id, jsonb_agg(jsonb_build_object('event', e.event, 'by', e.by,
    'isClaim', e.is_claim, 'at', e.at, 'revision', coalesce((
      -- the one that was seen; a decision of before kept none
      select (item ->> 'revision')::int from jsonb_array_elements(e.open_items) as item
      where item ->> 'what' = 'workbook'), (
      select max(p.revision) from tieout.runs r join tieout.reports p using (run_id)
      where r.business_date = of_date and not r.is_dry and p.kind = 'reconciliation'
        and p.format = 'xlsx' and p.period is null and p.state = 'written'
        and p.written_at <= e.at))) order by e.event_id)
  from tieout.day_events e
  where e.business_date = of_date and e.account_id = any (accounts) and e.event <> 'reopened'
    and not exists (
      select from tieout.day_events later
      where later.account_id = e.account_id and later.business_date = e.business_date
        and later.event = 'reopened' and later.event_id > e.event_id)
  group by e.account_id
$$;

-- Down Migration
drop function tieout.day_signings;
