-- Up Migration
-- By which settings an account was planned last, whole or not. A claim holds its own settings
-- against these: the newest run may have begun by others and died before its plan, or may be one
-- in which the account was not configured, and what waits was planned by neither.
alter table tieout.run_accounts add column planned_by bigint;
update tieout.run_accounts ra
set planned_by = (select max(settings_id) from tieout.run_settings s where s.run_id = ra.run_id)
where acted_from is not null;

-- Down Migration
alter table tieout.run_accounts drop column planned_by;
