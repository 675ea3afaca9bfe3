-- Up Migration
-- An order is final with the refund requests it was judged with: one that comes, or comes back
-- after it had gone, is looked at. Orders that are final already are looked at once more where they
-- have requests whose instruction was withdrawn.
alter table tieout.final_orders add column requests text[] collate "C" not null default '{}';

-- Down Migration
alter table tieout.final_orders drop column requests;
