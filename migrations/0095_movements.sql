-- Up Migration
-- The book of movements: every capture and refund that the gateway shows, ours or made elsewhere,
-- once. Kept where tieout.yaml has the section `settlement`; without it these tables stay empty.

-- From when on an account has one. What the gateway showed in that first night is history.
create table tieout.movement_books (
  account_id text collate "C" primary key,
  -- the business date of the first night
  begins date not null,
  -- settlement.from of that night
  history_before date not null,
  run_id bigint not null references tieout.runs,
  link_id bigint
);
create index movement_books_by_link on tieout.movement_books (link_id);

create table tieout.movements (
  movement_id bigint generated always as identity primary key,
  account_id text collate "C" not null,
  order_no text collate "C" not null,
  transaction_id text collate "C" not null,
  kind text not null check (kind in ('captured', 'refunded')),
  currency text not null,
  -- as it was booked, null: nobody knows, it stands in suspense; movement_amounts may say otherwise
  amount numeric(20, 2) check (amount > 0),
  made text not null check (made in ('here', 'elsewhere')),
  instruction_id bigint references tieout.instructions,
  -- the refund_reference_id of the gateway
  reference text,
  business_date date not null,
  run_id bigint not null references tieout.runs,
  -- of before the book: matched where it appears, never missed
  is_history boolean not null,
  -- how far the posted movements of business days are booked
  day_movement_id bigint references tieout.day_movements,
  link_id bigint,
  check ((made = 'here') = (instruction_id is not null)),
  check ((made = 'here') = (day_movement_id is not null)),
  check (made = 'elsewhere' or amount is not null),
  check (kind = 'refunded' or amount is not null)
);
-- A capture of a transaction is one; what was shown in another currency by mistake is put right by
-- an amount of 0.00, and so is one made elsewhere that turns out to be ours.
create unique index movements_one_capture
  on tieout.movements (account_id, transaction_id, currency, made) where kind = 'captured';
create unique index movements_one_instruction on tieout.movements (instruction_id);
create index movements_by_transaction on tieout.movements (account_id, transaction_id);
create index movements_by_order on tieout.movements (account_id, order_no);
create index movements_by_date on tieout.movements (account_id, business_date);
create index movements_by_day_movement on tieout.movements (account_id, day_movement_id)
  where day_movement_id is not null;
create index movements_by_run on tieout.movements (run_id);
create index movements_by_link on tieout.movements (link_id);

-- What became known later of the amount of a movement: the newest row counts, and none is edited.
-- 0.00: it was shown by mistake; null: not known any more. `change` and `suspense` follow from the
-- row before it.
create table tieout.movement_amounts (
  amount_id bigint generated always as identity primary key,
  movement_id bigint not null references tieout.movements,
  amount numeric(20, 2) check (amount >= 0),
  known_by text not null check (known_by in ('look', 'request', 'settlement', 'person')),
  business_date date not null,
  run_id bigint references tieout.runs,
  change numeric(20, 2) not null,
  suspense integer not null check (suspense between -1 and 1),
  link_id bigint
);
create index movement_amounts_by_movement on tieout.movement_amounts (movement_id, amount_id);
create index movement_amounts_by_run on tieout.movement_amounts (run_id);
create index movement_amounts_by_link on tieout.movement_amounts (link_id);

create function tieout.weigh_movement_amount() returns trigger language plpgsql as $$
declare
  movement tieout.movements;
  before numeric;
begin
  -- one after the other, so that each knows the one before it
  select * into movement from tieout.movements
  where movement_id = new.movement_id for no key update;
  select amount into before from tieout.movement_amounts
  where movement_id = new.movement_id order by amount_id desc limit 1;
  if not found then
    before := movement.amount;
  end if;
  if movement.made = 'here' then
    raise exception 'movement %: what we made is known by its instruction', new.movement_id
      using errcode = 'check_violation';
  end if;
  new.change := coalesce(new.amount, 0) - coalesce(before, 0);
  new.suspense := (new.amount is null)::int - (before is null)::int;
  return new;
end $$;
create trigger weigh_amount before insert on tieout.movement_amounts
  for each row execute function tieout.weigh_movement_amount();

-- Every movement with what is known of its amount by now.
create view tieout.movements_now as
select m.movement_id, m.account_id, m.order_no, m.transaction_id, m.kind, m.currency,
  case when a.movement_id is null then m.amount else a.amount end as amount, m.made,
  m.instruction_id, m.reference, m.business_date, m.run_id, m.is_history,
  coalesce(a.known_by, 'look') as known_by, coalesce(a.business_date, m.business_date) as known_on
from tieout.movements m
left join lateral (
  select movement_id, amount, known_by, business_date from tieout.movement_amounts
  where movement_id = m.movement_id order by amount_id desc limit 1
) a on true;

create trigger guard_fact before update or delete on tieout.movement_books
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.movements
  for each row execute function tieout.guard_fact();
create trigger guard_fact before update or delete on tieout.movement_amounts
  for each row execute function tieout.guard_fact();
call tieout.guard_facts('movements', 'link_id', 'guard_fact');

-- What was made elsewhere changes the figures of a business day, which has to be open. What we made
-- is posted there as it is (day_movements), and history is in no day.
create function tieout.guard_booked() returns trigger language plpgsql as $$
declare
  late record;
begin
  select p.account_id, p.business_date into late
  from (
    select b.account_id, min(b.business_date) as business_date
    from booked b where not b.is_history and b.made = 'elsewhere' group by b.account_id
  ) p
  where p.business_date <= tieout.closed_until(p.account_id) limit 1;
  if found then
    raise exception 'day % of account % is closed', late.business_date, late.account_id
      using errcode = 'check_violation';
  end if;
  insert into tieout.day_sums as s
    (account_id, posted_to, currency, operation, is_late, amount, movements)
  select account_id, business_date, currency, kind || '_elsewhere', false,
    coalesce(sum(amount), 0), count(*)
  from booked where not is_history and made = 'elsewhere' group by 1, 2, 3, 4
  union all
  select account_id, business_date, currency, 'suspense', false, 0, count(*)
  from booked where not is_history and amount is null group by 1, 2, 3
  order by 1, 2, 3, 4
  on conflict (account_id, posted_to, currency, operation, is_late)
    do update set amount = s.amount + excluded.amount,
      movements = s.movements + excluded.movements;
  return null;
end $$;
create trigger guard_booked after insert on tieout.movements
  referencing new table as booked for each statement execute function tieout.guard_booked();

create function tieout.guard_amounts() returns trigger language plpgsql as $$
declare
  late record;
begin
  select p.account_id, p.business_date into late
  from (
    select m.account_id, min(a.business_date) as business_date
    from added a join tieout.movements m using (movement_id)
    where not m.is_history group by m.account_id
  ) p
  where p.business_date <= tieout.closed_until(p.account_id) limit 1;
  if found then
    raise exception 'day % of account % is closed', late.business_date, late.account_id
      using errcode = 'check_violation';
  end if;
  insert into tieout.day_sums as s
    (account_id, posted_to, currency, operation, is_late, amount, movements)
  select m.account_id, a.business_date, m.currency, m.kind || '_elsewhere', false, sum(a.change), 0
  from added a join tieout.movements m using (movement_id)
  where not m.is_history group by 1, 2, 3, 4
  union all
  select m.account_id, a.business_date, m.currency, 'suspense', false, 0, sum(a.suspense)
  from added a join tieout.movements m using (movement_id)
  where not m.is_history and a.suspense <> 0 group by 1, 2, 3
  order by 1, 2, 3, 4
  on conflict (account_id, posted_to, currency, operation, is_late)
    do update set amount = s.amount + excluded.amount,
      movements = s.movements + excluded.movements;
  return null;
end $$;
create trigger guard_amounts after insert on tieout.movement_amounts
  referencing new table as added for each statement execute function tieout.guard_amounts();

do $$
declare
  path text := current_setting('search_path');
  facts text;
begin
  -- so that it names the schema of each
  perform set_config('search_path', '', true);
  facts := rtrim(pg_get_viewdef('tieout.facts'::regclass), '; ');
  perform set_config('search_path', path, true);
  execute 'create or replace view tieout.facts as ' || facts || $view$
  union all
  select account_id, 'book', 0, link_id,
    row(begins - date '2000-01-01', history_before - date '2000-01-01', run_id)::text
  from tieout.movement_books
  union all
  select account_id, 'booked', movement_id, link_id,
    row(movement_id, order_no, transaction_id, kind, currency, amount, made, instruction_id,
      reference, business_date - date '2000-01-01', run_id, is_history, day_movement_id)::text
  from tieout.movements
  union all
  select m.account_id, 'amount', a.amount_id, a.link_id,
    row(a.amount_id, a.movement_id, a.amount, a.known_by, a.business_date - date '2000-01-01',
      a.run_id, a.change, a.suspense)::text
  from tieout.movement_amounts a join tieout.movements m using (movement_id)$view$;
end $$;
insert into tieout.fact_sources (what, is_of_account, mark)
select what, true, format('update tieout.%I f set link_id = n.id
  from unnest($1, $2) as n (account_id, id)%s
  where f.link_id is null and %s', relation, parent, condition)
from (values
  ('book', 'movement_books', '', 'f.account_id = n.account_id'),
  ('booked', 'movements', '', 'f.account_id = n.account_id'),
  ('amount', 'movement_amounts', ', tieout.movements p',
    'p.movement_id = f.movement_id and p.account_id = n.account_id')
) as source (what, relation, parent, condition);

-- Down Migration
delete from tieout.fact_sources where what in ('book', 'booked', 'amount');
do $$
declare
  path text := current_setting('search_path');
  facts text;
begin
  perform set_config('search_path', '', true);
  facts := pg_get_viewdef('tieout.facts'::regclass);
  perform set_config('search_path', path, true);
  -- all but the last three of what it unites
  for part in 1..3 loop
    facts := regexp_replace(facts, '^(.*)UNION ALL.*$', '\1');
  end loop;
  execute 'create or replace view tieout.facts as ' || facts;
end $$;
drop view tieout.movements_now;
drop table tieout.movement_amounts, tieout.movements, tieout.movement_books;
drop function tieout.weigh_movement_amount(), tieout.guard_booked(), tieout.guard_amounts();
alter table tieout.day_sums disable trigger guard_day_sum;
delete from tieout.day_sums where operation in
  ('captured_elsewhere', 'refunded_elsewhere', 'suspense');
alter table tieout.day_sums enable trigger guard_day_sum;
