-- Up Migration
-- Where a break of a line stands: on the order of ours that it is about, by whatever it names it;
-- else on what it calls the order, else on its batch.
create function tieout.place_of_line(line tieout.settlement_lines) returns text
language sql stable as $$
  select coalesce(
    (select m.order_no from tieout.settlement_matches t join tieout.movements m using (movement_id)
      where t.settlement_line_id = line.settlement_line_id),
    (select min(m.order_no) from tieout.movements m
      where m.account_id = line.account_id and m.transaction_id = line.transaction_id),
    line.order_no,
    'batch ' || line.batch)
$$;

-- Down Migration
drop function tieout.place_of_line(tieout.settlement_lines);
