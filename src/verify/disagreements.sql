-- Rows that say something else than their own history: a state that no recorded move led to.
select i.account_id, i.order_no, 'instruction ' || i.instruction_id as what, i.state,
  e.to_state as history
from tieout.instructions i
left join lateral (
  select to_state from tieout.instruction_events e
  where e.instruction_id = i.instruction_id order by e.seq desc limit 1
) e on true
where e.to_state is distinct from i.state
union all
select b.account_id, b.order_no, 'break ' || b.kind, b.state, e.state
from tieout.breaks b
left join lateral (
  select case e.event when 'waived' then 'waived' when 'resolved' then 'resolved' else 'open' end
    as state
  from tieout.break_events e
  where e.break_id = b.break_id
    and e.event in ('opened', 'reopened', 'changed', 'waived', 'resolved')
  order by e.event_id desc limit 1
) e on true
where e.state is distinct from b.state
union all
-- What a business day is said to come to, and what its movements do.
select account_id, null, 'day ' || posted_to || ', ' || operation || ' in ' || currency,
  said.sum, movements.sum
from (
  select account_id, posted_to, currency, operation, is_late,
    round(amount, 2) || ' of ' || movements as sum
  from tieout.day_sums
) said
full join (
  select account_id, posted_to, currency, operation, belongs_to <> posted_to as is_late,
    sum(amount) || ' of ' || count(*) as sum
  from tieout.day_movements group by 1, 2, 3, 4, 5
  union all
  select account_id, on_date, currency, operation, false,
    round(sum(amount), 2) || ' of ' || sum(movements)
  from (
    select account_id, business_date as on_date, currency, kind || '_elsewhere' as operation,
      coalesce(amount, 0.00) as amount, 1 as movements
    from tieout.movements where made = 'elsewhere' and not is_history
    union all
    select account_id, business_date, currency, 'suspense', 0.00, 1
    from tieout.movements where amount is null and not is_history
    union all
    select m.account_id, a.business_date, m.currency, part.operation, part.amount, part.movements
    from tieout.movement_amounts a
    join tieout.movements m using (movement_id)
    cross join lateral (values (m.kind || '_elsewhere', a.change, 0),
      ('suspense', 0.00, a.suspense)) as part (operation, amount, movements)
    where not m.is_history and (part.operation <> 'suspense' or a.suspense <> 0)
  ) booked group by 1, 2, 3, 4
) movements using (account_id, posted_to, currency, operation, is_late)
where said.sum is distinct from movements.sum
union all
-- What a batch of the acquirer was taken with, and what its lines come to: so that it has a name.
select account_id, null, ('batch ' || batch || ' in ' || currency) collate "default",
  coalesce(lines.sum, 'without lines'), said.sum
from (
  select account_id, batch, currency,
    lines || ' lines: ' || round(gross, 2) || ' less fees of ' || round(fees, 2) as sum
  from tieout.settlement_batches
) said
full join (
  select account_id, batch, settle_currency as currency,
    count(*) || ' lines: ' || sum(gross) || ' less fees of ' || sum(fee) as sum
  from tieout.settlement_lines group by 1, 2, 3
) lines using (account_id, batch, currency)
where said.sum is distinct from lines.sum
order by 1, 2, 3
limit 1000
