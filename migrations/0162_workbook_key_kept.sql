-- Up Migration
-- Without the key no workbook that was written before could be decided upon.
create trigger guard_history before update or delete or truncate on tieout.workbook_key
  for each statement execute function tieout.guard_history();

-- Down Migration
drop trigger guard_history on tieout.workbook_key;
