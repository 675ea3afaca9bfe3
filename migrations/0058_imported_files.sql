-- Up Migration
-- A file that was imported, known again by its bytes: it changes nothing a second time, whenever it
-- comes, so that an export of yesterday does not roll the ledger back.
create table tieout.imported_files (
  -- the table of the ledger that it went into
  relation text not null,
  -- of its bytes
  sha256 text not null,
  -- of the map that it was read through; empty: the ledger's own columns
  map_sha256 text not null default '',
  name text not null,
  lines bigint not null check (lines >= 0),
  imported_at timestamptz not null default clock_timestamp(),
  primary key (relation, sha256, map_sha256)
);

-- Down Migration
drop table tieout.imported_files;
