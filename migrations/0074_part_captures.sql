-- Up Migration
-- A capture of less than was authorised is known as one: what the gateway shows afterwards may be
-- the whole, and the ledger may come to say another amount than was captured.
alter table tieout.instructions add column is_part boolean not null default false;
create index instructions_part on tieout.instructions (account_id, order_no) where is_part;
-- What we captured beside what the ledger says is to be captured, where the two differ.
alter table tieout.verdicts
  add column taken numeric(20, 2),
  add column to_take numeric(20, 2);

alter table tieout.instructions disable trigger user;
update tieout.instructions i set is_part = true
from tieout.verdicts v
where i.operation = 'capture' and v.run_id = i.run_id and v.account_id = i.account_id
  and v.order_no = i.order_no and v.need = 'capture' and v.need_amount < v.ledger_amount;
alter table tieout.instructions enable trigger user;

-- Down Migration
alter table tieout.verdicts drop column taken, drop column to_take;
drop index tieout.instructions_part;
alter table tieout.instructions drop column is_part;
