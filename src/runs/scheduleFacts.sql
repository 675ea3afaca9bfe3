-- What the clock has to know to say which run is owed: of the times at which a run is to begin
-- (local ones, as the cron expression has them) the last and the next, the business date that had
-- ended at each, until when the last is resumed, and how often its run has ended since, and was
-- taken up since it ended last: where nobody works on it, by so many who died. That it died too
-- often ends no such count while a clock resumes it; what is taken up later somebody wanted.
-- $1 now, $2 zone, $3 cut-off, $4 resumeUntil, $5 local times, $6 accounts of the configuration,
-- $7 the failure of one whose process died too often
with ticks as (
  select local, local at time zone $2 as at from unnest($5::timestamp[]) as local
),
last as (select * from ticks where at <= $1 order by at desc limit 1),
next as (select * from ticks where at > $1 order by at limit 1),
newest as (
  select run_id from tieout.runs where not is_dry order by business_date desc limit 1
)
select last.at as tick, next.at as next_tick,
  tieout.last_ended_date(last.at, $2, $3::time) as due,
  tieout.last_ended_date(next.at, $2, $3::time) as next_due,
  tieout.resume_end(last.local, $2, $4::time) as resume_until,
  (extract(epoch from clock_timestamp() - $1) * 1000)::float8 as skew_ms,
  (select min(recorded_at) from tieout_meta.checksums) as installed_at,
  (select count(*) from tieout.run_ends e
    where e.run_id = newest.run_id and e.at >= last.at) as ends,
  (select count(*) from tieout.run_settings s
    where s.run_id = newest.run_id and s.at >= greatest(last.at,
      (select max(e.at) from tieout.run_ends e
        where e.run_id = newest.run_id and (e.failure is distinct from $7
          or tieout.resume_end(last.local, $2, $4::time) <= $1)))) as deaths,
  exists (select account_id from unnest($6::text[]) as account_id
    except select account_id from tieout.run_accounts ra
    where ra.run_id = newest.run_id and ra.merchant_id is not null
      and ra.state <> 'running') as lacks_accounts
from (select) as always left join last on true left join next on true left join newest on true
