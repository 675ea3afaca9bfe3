-- Up Migration
-- The lines of a written statement keep what moved after the night as its workbook has it: worked
-- out later, it would be what moved up to another moment, and nothing once the month is removed.
alter table tieout.written_lines add column moved_captured numeric;
alter table tieout.written_lines add column moved_refunded numeric;

-- Down Migration
alter table tieout.written_lines drop column moved_refunded;
alter table tieout.written_lines drop column moved_captured;
