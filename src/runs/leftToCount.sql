-- Of accounts that the configuration does not name, those that belong into the books of a run: with
-- something unfinished, with something settled that no run has counted, or with breaks that the
-- newest run before had open, whatever became of them. $1 accounts, $2 run, $3 its business date.
select w.account_id
from (select account_id collate "C" as account_id from unnest($1::text[]) a (account_id)) w
where exists (select from tieout.instructions i
    where i.account_id = w.account_id
      and (i.is_open or i.settled_at is not null and i.settled_run_id is null))
  or exists (select from tieout.breaks b where b.account_id = w.account_id and b.state = 'open')
  or exists (
    select from (
      select ra.open_after from tieout.run_accounts ra join tieout.runs r using (run_id)
      where ra.account_id = w.account_id and not r.is_dry and ra.run_id <> $2::bigint
        and ra.business_date < $3::date and ra.events_until is not null
      order by ra.business_date desc limit 1) before
    where exists (select from jsonb_each_text(before.open_after) kind where kind.value <> '0'))
order by w.account_id
