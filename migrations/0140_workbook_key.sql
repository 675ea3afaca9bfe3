-- Up Migration
-- What a workbook carries for decisions is sealed with a key of this database, so that a row that
-- was altered, or comes of another installation, is told from one that was written here.
create table tieout.workbook_key (
  is_one boolean primary key default true check (is_one),
  secret text not null check (secret ~ '^[0-9a-f]{64}$')
);
insert into tieout.workbook_key (secret)
values (replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

-- What somebody sees of a break, and what a decision that comes back in a workbook is bound to. The
-- fingerprint also has the refund requests that were held against it.
create function tieout.break_seen_sha256(state text, expected jsonb, actual jsonb, fingerprint text)
returns text language sql immutable as $$
  select tieout.seen_sha256(jsonb_build_object('state', state, 'expected', expected,
    'actual', actual, 'fingerprint', fingerprint))
$$;

-- Down Migration
drop function tieout.break_seen_sha256(text, jsonb, jsonb, text);
drop table tieout.workbook_key;
