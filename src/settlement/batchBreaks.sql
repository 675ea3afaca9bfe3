-- Breaks of settlement that stand on a batch, that one of its lines tells, or that stand on an
-- order of which it has a line. $1 account, $2 batch, $3 limit.
select b.break_id::text as id
from tieout.breaks b
where b.account_id = $1 and b.state <> 'resolved' and tieout.is_settlement_kind(b.kind)
  and (b.order_no = 'batch ' || $2
    -- whatever its line calls the order
    or strpos(', ' || (b.actual ->> 'batch') || ', ', ', ' || $2 || ', ') > 0
    or b.order_no in (
      select coalesce(m.order_no, l.order_no)
      from tieout.settlement_lines l
      left join tieout.settlement_matches t using (settlement_line_id)
      left join tieout.movements m using (movement_id)
      where l.account_id = $1 and l.batch = $2
      union
      select l.order_no from tieout.settlement_lines l where l.account_id = $1 and l.batch = $2))
order by b.first_seen, b.break_id
limit $3
