-- Working copies held against the sealed facts that they follow from: pages, lists, the shop and
-- the settlement read these, and whoever may write in the tables can write them.
select i.account_id, i.order_no, 'movement ' || m.movement_id as what,
  m.operation || ' of ' || m.amount || ' ' || m.currency as state,
  case when i.state = 'confirmed'
    then i.operation || ' of ' || coalesce(i.refund_amount, i.amount) || ' ' || i.currency
    else i.operation || ' that is ' || i.state end as history
from tieout.day_movements m
join tieout.instructions i using (instruction_id)
where i.state <> 'confirmed'
  or (m.account_id, m.order_no, m.operation, m.currency, m.amount) is distinct from
    (i.account_id, i.order_no, i.operation, i.currency, coalesce(i.refund_amount, i.amount))
union all
-- What the shop is told.
select o.account_id, o.order_no, 'outcome ' || coalesce(o.seq::text, 'not told yet'),
  o.state || ' at ' || coalesce(o.amount::text, 'no amount'),
  case when e.is_there then 'the amount ' || coalesce(coalesce(i.refund_amount, i.amount)::text, '')
    else 'no such move of instruction ' || o.instruction_id end
from tieout.outcome_rows o
left join tieout.instructions i on i.instruction_id = o.instruction_id
left join (
  select instruction_id, to_state as state, true as is_there
  from tieout.instruction_events group by 1, 2
) e on e.instruction_id = o.instruction_id and e.state = o.state
where e.is_there is null
  or (o.account_id, o.order_no, o.operation, o.currency, o.amount) is distinct from
    (i.account_id, i.order_no, i.operation, i.currency, coalesce(i.refund_amount, i.amount))
union all
select '', null, 'run of ' || r.business_date || ': ' || part.name, part.is, part.was
from tieout.runs r
left join lateral (
  select * from tieout.run_ends e where e.run_id = r.run_id order by e.end_id desc limit 1
) e on true
left join lateral (
  select * from tieout.run_settings s where s.run_id = r.run_id order by s.settings_id desc limit 1
) s on true
cross join lateral (values
  ('state', r.state, e.state, e.end_id is not null and r.state <> 'running'),
  ('summary', md5(r.summary::text), md5(e.summary::text),
    e.end_id is not null and r.state <> 'running'),
  ('settings', md5(r.settings::text), md5(s.settings::text), s.settings_id is not null)
) as part (name, "is", was, is_compared)
where not r.is_dry and part.is_compared and part.is is distinct from part.was
union all
-- What is at stake stays as it was said last, and so does who took it.
select b.account_id, b.order_no, 'break ' || b.kind || ': ' || part.name, part.is, part.was
from tieout.breaks b
join lateral (
  select * from tieout.break_events e where e.break_id = b.break_id order by e.event_id desc limit 1
) last on true
left join lateral (
  select * from tieout.break_events e where e.break_id = b.break_id and e.event = 'opened'
  order by e.event_id limit 1
) opened on true
left join lateral (
  select * from tieout.break_events e where e.break_id = b.break_id and e.event = 'waived'
  order by e.event_id desc limit 1
) waived on b.state = 'waived'
cross join lateral (values
  ('at stake', concat_ws(' ', b.amount, b.currency), concat_ws(' ', last.amount, last.currency)),
  ('first seen', b.first_seen::text, coalesce(opened.at, b.first_seen)::text),
  ('waived by', case when b.state = 'waived' then b.waived_by end, waived.by),
  ('waived because', case when b.state = 'waived' then b.waived_reason end, waived.reason)
) as part (name, "is", was)
where part.is is distinct from part.was
union all
-- What the acquirer still owes is what no line of his was matched with.
select m.account_id, m.order_no, 'movement ' || m.movement_id || ' of the book',
  case when a.movement_id is null then 'awaited no more' else 'awaited' end,
  case when x.movement_id is null then 'no line of the acquirer' else 'a line of the acquirer' end
from tieout.movements m
left join tieout.settlement_awaited a using (movement_id)
left join (select distinct movement_id from tieout.settlement_matches) x using (movement_id)
where (a.movement_id is null) <> (x.movement_id is not null)
union all
select l.account_id, l.order_no, 'line ' || l.settlement_line_id || ' of the acquirer',
  case when u.settlement_line_id is null then 'matched'
    else 'without its movement, of ' || coalesce('order ' || u.order_no, 'no order') end,
  case when x.settlement_line_id is null then 'no match' else 'a match' end
    || ', of ' || coalesce('order ' || l.order_no, 'no order')
from tieout.settlement_lines l
left join tieout.settlement_unmatched u using (settlement_line_id)
left join tieout.settlement_matches x using (settlement_line_id)
join tieout.settlement_looks k
  on k.account_id = l.account_id and l.settlement_line_id <= k.settlement_line_id
where l.type in ('captured', 'refunded')
  and ((u.settlement_line_id is null) <> (x.settlement_line_id is not null)
    or u.settlement_line_id is not null and u.order_no is distinct from l.order_no)
union all
-- What a match says has to be borne out by its line and its movement, which are sealed: whose money
-- it is, what names it, and that the amount is the same or said to be another. One line alone is
-- all of a movement.
select coalesce(l.account_id, m.account_id, ''), coalesce(m.order_no, l.order_no),
  'match of line ' || x.settlement_line_id || ' with movement ' || x.movement_id,
  'by ' || x.by || case when x.differs then ', differs' else '' end,
  case when l.settlement_line_id is null then 'no such line'
    when m.movement_id is null then 'no such movement'
    when (l.account_id, l.type) is distinct from (m.account_id, m.kind)
      then l.type || ' of ' || l.account_id || ', and ' || m.kind || ' of ' || m.account_id
    when key.line_names is null or key.line_names is distinct from key.movement_has
      then coalesce(key.line_names, 'nothing') || ', and ' || coalesce(key.movement_has, 'nothing')
    when x.nth > 1 then 'matched with another line as well'
    else abs(l.amount) || ' ' || l.currency || ', and ' || m.amount || ' ' || m.currency end
from (
  -- of several that say they are all of the movement, the first
  select *, case when differs then 0 else row_number() over (
      partition by movement_id, differs order by settlement_line_id) end as nth
  from tieout.settlement_matches
) x
left join tieout.settlement_lines l using (settlement_line_id)
left join tieout.movements m using (movement_id)
cross join lateral (
  select case x.by when 'reference' then l.reference when 'transaction' then l.transaction_id
      else l.order_no end as line_names,
    case x.by when 'reference' then m.reference when 'transaction' then m.transaction_id
      else m.order_no end as movement_has
) key
where l.settlement_line_id is null or m.movement_id is null
  or (l.account_id, l.type) <> (m.account_id, m.kind)
  or key.line_names is null or key.line_names is distinct from key.movement_has
  or x.nth > 1
  -- nobody knew the amount; or it became another one since
  or not x.differs and m.amount is not null
    and (l.currency <> m.currency or abs(l.amount) <> m.amount and not exists (
      select from tieout.movement_amounts a
      where a.movement_id = x.movement_id and a.amount = abs(l.amount)))
order by 1, 2, 3
limit 1000
