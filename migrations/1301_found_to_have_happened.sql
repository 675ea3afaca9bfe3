-- Up Migration
-- Each night asks which of them the gateway refused by an answer that came later.
create index decisions_happened on tieout.decisions (instruction_id, at)
  where finding = 'happened';

-- Down Migration
drop index tieout.decisions_happened;
