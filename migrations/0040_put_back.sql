-- Up Migration
-- A database that comes back older than it was has forgotten what was sent since, whatever way it
-- came back. So every journal of permits is held against it after each start of the server; each
-- host counts its signs of life here and on its own disk, so that a lower number here tells of a
-- database that went back; and what a journal knows and the database does not is entered as lost.
alter table tieout.journals
  -- the start of the server since which it was held against this database
  add column verified_start text,
  -- signs of life; the host keeps the newest number beside its journal
  add column marks bigint not null default 0,
  -- a person lets the others send without it
  add column excused_at timestamptz;
update tieout.journals set excused_at = released_at;
update tieout.journals
set verified_start = extract(epoch from pg_postmaster_start_time())::text
where verified_at >= pg_postmaster_start_time() and not pg_is_in_recovery();

-- `put_back`: the database came back, and may have lost something that no journal tells.
alter table tieout.brakes drop constraint brakes_kind_check,
  add constraint brakes_kind_check check (kind in ('brake', 'freeze', 'breaker', 'put_back'));
drop index tieout.brakes_restored;
create index brakes_put_back on tieout.brakes (at) where found ?| '{restoredFrom,putBack}';
create view tieout.put_backs as
  select seq, at, reason, by, found from tieout.brakes where found ?| '{restoredFrom,putBack}';

-- What was sent, or may have been, and is in no other table any more: one entry of a permit as its
-- journal has it. Of permits of older versions only operation, account and money are known.
create table tieout.lost_permits (
  attempt_id uuid not null,
  entry int not null,
  account_id text collate "C" not null,
  operation text not null,
  order_no text collate "C",
  transaction_id text collate "C",
  refund_id text collate "C",
  currency text not null,
  amount text not null,
  sent_at timestamptz not null,
  host text not null,
  found_at timestamptz not null default clock_timestamp(),
  primary key (attempt_id, entry)
);
create index lost_permits_by_order on tieout.lost_permits (account_id, order_no);
create trigger guard_history before update or delete or truncate on tieout.lost_permits
  for each statement execute function tieout.guard_history();

-- Down Migration
drop table tieout.lost_permits;
drop view tieout.put_backs;
drop index tieout.brakes_put_back;
create index brakes_restored on tieout.brakes (at) where found ? 'restoredFrom';
alter table tieout.brakes drop constraint brakes_kind_check,
  add constraint brakes_kind_check check (kind in ('brake', 'freeze', 'breaker')) not valid;
alter table tieout.journals drop column verified_start, drop column marks, drop column excused_at;
