-- Up Migration
-- What looks bring is by far the most of what is stored: a row an order and night in each of
-- asked_orders, look_entries and their like. They are partitioned by the month in which their run
-- began, so that a month can be let go as a whole. The number of a run bears its month
-- (202611 00000017: November 2026), and so does that of a look: whatever names a look names its
-- month, no row grows, and every statement reads the one partition that it needs.

-- The first number of a month.
create function tieout.month_number(day date) returns bigint
language sql immutable parallel safe as $$
  select to_char(day, 'YYYYMM')::bigint * 100000000
$$;

-- The relations that are partitioned. Their partition of a month bears its name behind theirs.
create function tieout.month_relations() returns text[]
language sql immutable parallel safe as $$
  select array['asked_orders', 'asked_refunds', 'look_entries', 'pages', 'verdicts']
$$;

-- What was recorded is guarded in a partition as in the whole: whoever writes to the one is not
-- seen by the guards of the other.
create function tieout.guard_partition(relation text, partition text) returns void
language plpgsql as $$
begin
  if relation = 'verdicts' then
    return;
  end if;
  execute format('create trigger guard_history before update or truncate on tieout.%I
    for each statement execute function tieout.guard_history()', partition);
  execute format('create trigger guard_look after delete on tieout.%I
    referencing old table as gone for each statement execute function tieout.guard_look()',
    partition);
  if relation = 'pages' then
    execute format('create trigger guard_look_new after insert on tieout.%I
      referencing new table as gone for each statement execute function tieout.guard_look()',
      partition);
  end if;
end $$;

-- Makes the partitions of a month where they are not there yet. A table is attached, since making
-- it as a partition would wait for everybody who reads the others.
create function tieout.make_month(day date) returns void language plpgsql as $$
declare
  suffix text := to_char(day, '"_"YYYY"_"MM');
  relation text;
begin
  if to_regclass('tieout.verdicts' || suffix) is not null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('tieout.make_month'));
  -- Asked of the table itself: what a session remembers of names does not know yet what another
  -- has made while this one waited.
  if exists (select from pg_class
    where relnamespace = 'tieout'::regnamespace and relname = 'verdicts' || suffix) then
    return;
  end if;
  foreach relation in array tieout.month_relations() loop
    execute format('create table tieout.%I (like tieout.%I including all)',
      relation || suffix, relation);
    execute format('alter table tieout.%I attach partition tieout.%I for values from (%s) to (%s)',
      relation, relation || suffix, tieout.month_number(day),
      tieout.month_number((day + interval '1 month')::date));
    perform tieout.guard_partition(relation, relation || suffix);
  end loop;
end $$;

-- What there is from before the numbers bore their month is the first partition of each.
alter table tieout.asked_orders rename to asked_orders_before;
alter index tieout.asked_orders_pkey rename to asked_orders_before_pkey;
alter index tieout.asked_orders_unasked rename to asked_orders_before_unasked;
alter table tieout.asked_refunds rename to asked_refunds_before;
alter index tieout.asked_refunds_by_pull rename to asked_refunds_before_by_pull;
alter table tieout.look_entries rename to look_entries_before;
alter index tieout.look_entries_plain rename to look_entries_before_plain;
alter index tieout.look_entries_extra rename to look_entries_before_extra;
alter index tieout.look_entries_fraud rename to look_entries_before_fraud;
alter table tieout.pages rename to pages_before;
alter index tieout.pages_pkey rename to pages_before_pkey;
alter table tieout.verdicts rename to verdicts_before;
alter index tieout.verdicts_pkey rename to verdicts_before_pkey;
do $$
declare
  -- it reads them by the names that they had
  path text := current_setting('search_path');
  break_facts text;
  relation text;
begin
  -- so that it names the schema of each
  perform set_config('search_path', '', true);
  break_facts := pg_get_viewdef('tieout.break_facts'::regclass);
  perform set_config('search_path', path, true);
  foreach relation in array tieout.month_relations() loop
    execute format('create table tieout.%I (like tieout.%I including all excluding indexes)
      partition by range (%I)', relation, relation || '_before',
      case relation when 'verdicts' then 'run_id' else 'pull_id' end);
  end loop;
  drop view tieout.break_facts;
  execute 'create view tieout.break_facts as '
    || regexp_replace(break_facts, '\mtieout\.(\w+)_before\M', 'tieout.\1', 'g');
end $$;
alter table tieout.asked_orders add primary key (pull_id, account_id, order_no);
create index asked_orders_unasked on tieout.asked_orders (pull_id, account_id)
  where page_no is null;
create index asked_refunds_by_pull on tieout.asked_refunds (pull_id, account_id);
create unique index look_entries_plain
  on tieout.look_entries (pull_id, account_id, order_no) where not is_extra;
create index look_entries_extra
  on tieout.look_entries (pull_id, account_id, order_no) where is_extra;
create index look_entries_fraud on tieout.look_entries (pull_id, account_id, order_no)
  where fraud_rejected;
alter table tieout.pages add primary key (pull_id, account_id, page_no);
alter table tieout.verdicts add primary key (run_id, account_id, order_no);
do $$
declare
  first bigint := tieout.month_number(date '1000-01-01');
  relation text;
  key text;
begin
  -- Where this was taken back and is applied again, numbers bear their month already.
  perform tieout.make_month(to_date(month::text, 'YYYYMM'))
  from (select run_id / 100000000 as month from tieout.runs where run_id >= first
    union select pull_id / 100000000 from tieout.pulls where pull_id >= first) as months;
  foreach relation in array tieout.month_relations() loop
    key := case relation when 'verdicts' then 'run_id' else 'pull_id' end;
    execute format('alter table tieout.%I disable trigger user', relation || '_before');
    execute format('insert into tieout.%I select * from tieout.%I where %I >= %s',
      relation, relation || '_before', key, first);
    execute format('delete from tieout.%I where %I >= %s', relation || '_before', key, first);
    execute format('alter table tieout.%I enable trigger user', relation || '_before');
    execute format('alter table tieout.%I attach partition tieout.%I
      for values from (minvalue) to (%s)', relation, relation || '_before', first);
    perform tieout.guard_partition(relation, relation);
  end loop;
end $$;

-- A run and its looks get their numbers, and the months that they write to are there before them.
-- The month is that in which the run begins, whatever business date it is of, and never an earlier
-- one than that of the newest number, whatever a clock says: of two numbers the higher is the
-- newer, and what is sent goes by the newest look.
create function tieout.next_number(month bigint, newest bigint, drawn bigint) returns bigint
language plpgsql as $$
declare
  first bigint := greatest(month, newest - newest % 100000000);
begin
  -- Numbers from before they bore a month are of none.
  if first >= tieout.month_number(date '1000-01-01') then
    perform tieout.make_month(to_date((first / 100000000)::text, 'YYYYMM'));
  end if;
  return first + drawn;
end $$;
create function tieout.number_run() returns trigger language plpgsql as $$
begin
  new.run_id := tieout.next_number(
    tieout.month_number((new.created_at at time zone 'UTC')::date),
    (select max(run_id) from tieout.runs), new.run_id);
  return new;
end $$;
create trigger number_run before insert on tieout.runs
  for each row execute function tieout.number_run();
create function tieout.number_look() returns trigger language plpgsql as $$
begin
  new.pull_id := tieout.next_number(new.run_id - new.run_id % 100000000,
    (select max(pull_id) from tieout.pulls), new.pull_id);
  return new;
end $$;
create trigger number_look before insert on tieout.pulls
  for each row execute function tieout.number_look();

-- Down Migration
drop trigger number_look on tieout.pulls;
drop trigger number_run on tieout.runs;
drop function tieout.number_look(), tieout.number_run(), tieout.make_month(date),
  tieout.next_number(bigint, bigint, bigint);
do $$
declare
  path text := current_setting('search_path');
  break_facts text;
  relation text;
begin
  perform set_config('search_path', '', true);
  break_facts := pg_get_viewdef('tieout.break_facts'::regclass);
  perform set_config('search_path', path, true);
  drop view tieout.break_facts;
  foreach relation in array tieout.month_relations() loop
    execute format('create table tieout.%I (like tieout.%I including all excluding indexes)',
      relation || '_whole', relation);
    execute format('insert into tieout.%I select * from tieout.%I', relation || '_whole', relation);
    execute format('drop table tieout.%I', relation);
    execute format('alter table tieout.%I rename to %I', relation || '_whole', relation);
    perform tieout.guard_partition(relation, relation);
  end loop;
  execute 'create view tieout.break_facts as ' || break_facts;
end $$;
alter table tieout.asked_orders add primary key (pull_id, account_id, order_no);
create index asked_orders_unasked on tieout.asked_orders (pull_id, account_id)
  where page_no is null;
create index asked_refunds_by_pull on tieout.asked_refunds (pull_id, account_id);
create unique index look_entries_plain
  on tieout.look_entries (pull_id, account_id, order_no) where not is_extra;
create index look_entries_extra
  on tieout.look_entries (pull_id, account_id, order_no) where is_extra;
create index look_entries_fraud on tieout.look_entries (pull_id, account_id, order_no)
  where fraud_rejected;
alter table tieout.pages add primary key (pull_id, account_id, page_no);
alter table tieout.verdicts add primary key (run_id, account_id, order_no);
drop function tieout.guard_partition(text, text), tieout.month_relations(),
  tieout.month_number(date);
