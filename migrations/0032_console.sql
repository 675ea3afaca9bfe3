-- Up Migration
-- What somebody had typed into the form of a decision when the password was asked for first: it
-- stands in the form again afterwards. Of one session, shown once, gone with the session.
alter table tieout.sessions add column draft jsonb;

-- Lists of what had no effect, among millions that had one.
create index instructions_void on tieout.instructions (instruction_id) where is_void;

-- A report of a day or month is counted by its period: another night's run may write the next
-- revision, and its file stands in the same folder.
alter table tieout.reports drop constraint if exists reports_run_id_kind_format_revision_key;
drop index if exists tieout.reports_run_id_kind_format_revision_key;
create unique index reports_of_run_once on tieout.reports (run_id, kind, format, revision)
  where period is null;
-- Reports from before may bear one number twice, as two nights wrote them; they stay as they are.
do $$
begin
  execute format('create unique index reports_of_period_once
    on tieout.reports (period, kind, format, revision)
    where period is not null and report_id > %s', (
      select coalesce(max(report_id), 0) from tieout.reports));
end $$;

-- What the movements of a business day come to: the figures of a day, and what all days before it
-- add up to, cost the same however many movements there were. They follow from the movements alone.
create table tieout.day_sums (
  account_id text collate "C" not null,
  posted_to date not null,
  currency text not null,
  operation text not null,
  -- belongs to an earlier day than the one it stands in
  is_late boolean not null,
  amount numeric(24, 2) not null,
  movements bigint not null,
  primary key (account_id, posted_to, currency, operation, is_late)
);
create function tieout.add_day_sums() returns trigger language plpgsql as $$
begin
  insert into tieout.day_sums as s
    (account_id, posted_to, currency, operation, is_late, amount, movements)
  select account_id, posted_to, currency, operation, belongs_to <> posted_to, sum(amount), count(*)
  from posted group by 1, 2, 3, 4, 5
  order by 1, 2, 3, 4, 5
  on conflict (account_id, posted_to, currency, operation, is_late)
    do update set amount = s.amount + excluded.amount,
      movements = s.movements + excluded.movements;
  return null;
end $$;
create trigger add_day_sums after insert on tieout.day_movements
  referencing new table as posted for each statement execute function tieout.add_day_sums();
create function tieout.guard_day_sum() returns trigger language plpgsql as $$
begin
  raise exception 'the sums of business days follow from their history'
    using errcode = 'check_violation';
end $$;
insert into tieout.day_sums
  (account_id, posted_to, currency, operation, is_late, amount, movements)
select account_id, posted_to, currency, operation, belongs_to <> posted_to, sum(amount), count(*)
from tieout.day_movements group by 1, 2, 3, 4, 5;
create trigger guard_day_sum before insert or update or delete on tieout.day_sums
  for each row when (pg_trigger_depth() = 0) execute function tieout.guard_day_sum();

-- Down Migration
drop trigger add_day_sums on tieout.day_movements;
drop table tieout.day_sums;
drop function tieout.add_day_sums(), tieout.guard_day_sum();
drop index tieout.reports_of_period_once;
alter index tieout.reports_of_run_once rename to reports_run_id_kind_format_revision_key;
drop index tieout.instructions_void;
alter table tieout.sessions drop column draft;
