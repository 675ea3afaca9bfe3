-- Every text that people or their files brought and that is long enough for a card number, with
-- what its row is called, the ids in it that are none, and the link of the chain that seals it.
-- `path`: where it stands inside of a column of JSON.
with recursive part as (
  select d.decision_id, f.field, '{}'::text[] as path, f.doc as value
  from tieout.decisions d
  cross join lateral (values ('seen', d.seen), ('row_before', d.row_before)) as f (field, doc)
  union all
  select p.decision_id, p.field, p.path || inner_part.name, inner_part.value
  from part p
  cross join lateral (
    select key as name, value
    from jsonb_each(case jsonb_typeof(p.value) when 'object' then p.value else '{}' end)
    -- what is to be paid out has the shop's own fields: account numbers among them
    where key <> 'payload'
    union all
    select (n - 1)::text, value
    from jsonb_array_elements(case jsonb_typeof(p.value) when 'array' then p.value else '[]' end)
      with ordinality as e (value, n)
  ) inner_part
)
select w.relation, w.key, w.field, w.text, array_remove(w.ids, null) as ids,
  w.account_id, w.what, w.link_id, w.path
from (
  select 'decisions' as relation, jsonb_build_object('decision_id', d.decision_id) as key,
    f.field, f.text, array[i.order_no, i.refund_id, i.transaction_id] as ids,
    d.account_id, 'decision' as what, d.link_id, null::text[] as path
  from tieout.decisions d
  join tieout.instructions i using (instruction_id)
  cross join lateral (values ('reason', d.reason), ('reference', d.reference)) as f (field, text)
  union all
  -- what was seen, as the shop's own table had it
  select 'decisions', jsonb_build_object('decision_id', d.decision_id), p.field, p.value #>> '{}',
    array[i.order_no, i.refund_id, i.transaction_id], d.account_id, 'decision', d.link_id, p.path
  from part p
  join tieout.decisions d using (decision_id)
  join tieout.instructions i using (instruction_id)
  where jsonb_typeof(p.value) = 'string' and p.path[cardinality(p.path)]
    in ('reason', 'refund_reason', 'requestedBy', 'beneficiary', 'reference')
  union all
  select 'instruction_events', jsonb_build_object('seq', e.seq), 'reason', e.reason,
    array[i.order_no, i.refund_id, i.transaction_id], i.account_id, 'instruction', e.link_id, null
  from tieout.instruction_events e join tieout.instructions i using (instruction_id)
  union all
  select 'instructions', jsonb_build_object('instruction_id', i.instruction_id), f.field, f.text,
    array[i.order_no, i.refund_id, i.transaction_id], null, null, null, null
  from tieout.instructions i
  cross join lateral (values ('reason', i.reason), ('refund_reason', i.refund_reason))
    as f (field, text)
  union all
  select 'break_events', jsonb_build_object('event_id', e.event_id), 'reason', e.reason,
    array[b.order_no, e.actual ->> 'transaction'], b.account_id, 'break', e.link_id, null
  from tieout.break_events e join tieout.breaks b using (break_id)
  union all
  select 'breaks', jsonb_build_object('break_id', b.break_id), f.field, f.text,
    array[b.order_no, b.actual ->> 'transaction'], null, null, null, null
  from tieout.breaks b
  cross join lateral (values ('note', b.note), ('owner', b.owner),
    ('waived_reason', b.waived_reason), ('waiver_asked_reason', b.waiver_asked_reason))
    as f (field, text)
  union all
  select 'brakes', jsonb_build_object('seq', seq), 'reason', reason, array[account_id],
    '', 'brake', link_id, null
  from tieout.brakes
  union all
  select 'day_events', jsonb_build_object('event_id', event_id), 'reason', reason, '{}',
    account_id, 'day', link_id, null
  from tieout.day_events
  union all
  select 'console_events', jsonb_build_object('event_id', event_id), f.field, f.text,
    array[account_id], null, null, null, null
  from tieout.console_events
  cross join lateral (values ('who', who), ('subject', subject)) as f (field, text)
  union all
  select 'refund_requests', jsonb_build_object('account_id', account_id, 'refund_id', refund_id),
    'reason', reason, array[order_no, refund_id], null, null, null, null
  from ledger.refund_requests
) w
where length(w.text) >= 13
order by 1, 2, 3, w.path
