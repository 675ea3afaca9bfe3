-- Up Migration
-- What somebody had typed into the form of a decision when the password was asked for first: it
-- stands in the form again afterwards. Of one session, shown once, gone with the session.
alter table tieout.sessions add column draft jsonb;

-- Lists of what had no effect, among millions that had one.
create index instructions_void on tieout.instructions (instruction_id) where is_void;

-- Down Migration
drop index tieout.instructions_void;
alter table tieout.sessions drop column draft;
