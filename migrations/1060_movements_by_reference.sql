-- Up Migration
-- What the acquirer's lines name is compared byte by byte, as all names are; this index was kept by
-- the database's own collation, so that no line found its movement by it: each read all of them.
drop index tieout.movements_by_reference;
create index movements_by_reference on tieout.movements (account_id, reference collate "C")
  where reference is not null;

-- Down Migration
drop index tieout.movements_by_reference;
create index movements_by_reference on tieout.movements (account_id, reference)
  where reference is not null;
