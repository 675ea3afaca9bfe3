-- Up Migration
-- What people found not to have happened is asked for every few seconds: an answer to it may come.
create index decisions_not_happened on tieout.decisions (instruction_id, at)
  where finding = 'not_happened';

-- Down Migration
drop index tieout.decisions_not_happened;
