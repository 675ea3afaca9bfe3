-- Up Migration
-- What somebody had typed into the form of a decision when the password was asked for first: it
-- stands in the form again afterwards. Of one session, shown once, gone with the session.
alter table tieout.sessions add column draft jsonb;

-- Down Migration
alter table tieout.sessions drop column draft;
