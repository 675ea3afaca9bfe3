-- Every text of at least $1 signs that people or their files brought, with what its row is called,
-- the ids in it that are no card, and the link of the chain that seals it. `path`: where it stands
-- inside of a column of JSON, or as which of several texts (`is_list`). `waits`: who asked for what
-- waits may not be its second person, and whom it pays was approved: they stay until it is over.
with recursive open_order as (
  select distinct account_id, order_no from tieout.instructions
  where operation <> 'payout' and state not in ('confirmed', 'rejected', 'withdrawn')
), part as (
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
  w.account_id, w.what, w.link_id, w.path, w.is_list, w.waits
from (
  select 'decisions' as relation, jsonb_build_object('decision_id', d.decision_id) as key,
    f.field, f.text, array[i.order_no, i.refund_id, i.transaction_id] as ids,
    d.account_id, 'decision' as what, d.link_id, null::text[] as path, false as is_list,
    false as waits
  from tieout.decisions d
  join tieout.instructions i using (instruction_id)
  cross join lateral (values ('reason', d.reason), ('reference', d.reference)) as f (field, text)
  union all
  -- what was seen, as the shop's own table had it
  select 'decisions', jsonb_build_object('decision_id', d.decision_id), p.field, p.value #>> '{}',
    array[i.order_no, i.refund_id, i.transaction_id], d.account_id, 'decision', d.link_id, p.path,
    false, (o.order_no is not null or i.state not in ('confirmed', 'rejected', 'withdrawn'))
      -- whom it pays is what was approved, and stands in the request as well
      and (p.path && '{requestedBy,askedBy,asked_by}' or p.path[1] = 'payout')
  from part p
  join tieout.decisions d using (decision_id)
  join tieout.instructions i using (instruction_id)
  left join open_order o on (o.account_id, o.order_no) = (i.account_id, i.order_no)
  where jsonb_typeof(p.value) = 'string' and (p.path[cardinality(p.path)]
    in ('reason', 'refund_reason', 'refundReason', 'requestedBy', 'beneficiary', 'reference')
    or p.path[cardinality(p.path) - 1] in ('askedBy', 'asked_by'))
  union all
  select 'instruction_events', jsonb_build_object('seq', e.seq), 'reason', e.reason,
    array[i.order_no, i.refund_id, i.transaction_id], i.account_id, 'instruction', e.link_id,
    null, false, false
  from tieout.instruction_events e join tieout.instructions i using (instruction_id)
  union all
  select 'instructions', jsonb_build_object('instruction_id', i.instruction_id), f.field, f.text,
    array[i.order_no, i.refund_id, i.transaction_id], null, null, null, null, false, false
  from tieout.instructions i
  cross join lateral (values ('reason', i.reason), ('refund_reason', i.refund_reason))
    as f (field, text)
  union all
  select 'break_events', jsonb_build_object('event_id', e.event_id), 'reason', e.reason,
    array[b.order_no, e.actual ->> 'transaction'], b.account_id, 'break', e.link_id, null, false,
    false
  from tieout.break_events e join tieout.breaks b using (break_id)
  union all
  select 'breaks', jsonb_build_object('break_id', b.break_id), f.field, f.text,
    array[b.order_no, b.actual ->> 'transaction'], null, null, null, null, false, false
  from tieout.breaks b
  cross join lateral (values ('note', b.note), ('owner', b.owner),
    ('waived_reason', b.waived_reason), ('waiver_asked_reason', b.waiver_asked_reason))
    as f (field, text)
  union all
  select 'brakes', jsonb_build_object('seq', seq), 'reason', reason, array[account_id],
    '', 'brake', link_id, null, false, false
  from tieout.brakes
  union all
  -- whoever stops sending is named with the reason in what did not go, and in each night under it
  select 'batches', jsonb_build_object('batch_id', batch_id), 'reason', reason, array[account_id],
    null, null, null, null, false, false
  from tieout.batches
  union all
  select e.relation, e.key, 'summary', f.text, array[n.notice ->> 'accountId'], e.account_id,
    e.what, e.link_id, array['notices', (n.at - 1)::text, f.field], false, false
  from (
    select 'runs' as relation, jsonb_build_object('run_id', run_id) as key, summary,
      null::text as account_id, null::text as what, null::bigint as link_id
    from tieout.runs
    union all
    select 'run_ends', jsonb_build_object('end_id', end_id), summary, '', 'end', link_id
    from tieout.run_ends
  ) e
  cross join lateral jsonb_array_elements(case jsonb_typeof(e.summary -> 'notices')
    when 'array' then e.summary -> 'notices' else '[]' end) with ordinality as n (notice, at)
  cross join lateral (values ('text', n.notice ->> 'text'), ('about', n.notice ->> 'about'))
    as f (field, text)
  where n.notice ->> 'kind' = 'not_sent'
  union all
  select 'day_events', jsonb_build_object('event_id', event_id), 'reason', reason, '{}',
    account_id, 'day', link_id, null, false, false
  from tieout.day_events
  union all
  select 'console_events', jsonb_build_object('event_id', event_id), f.field, f.text,
    array[account_id], null, null, null, null, false, false
  from tieout.console_events
  cross join lateral (values ('who', who), ('subject', subject)) as f (field, text)
  union all
  select 'instructions', jsonb_build_object('instruction_id', i.instruction_id),
    'asked_by', a.name, array[i.order_no, i.refund_id, i.transaction_id], null, null,
    null, array[a.at::text], true,
    o.order_no is not null or i.state not in ('confirmed', 'rejected', 'withdrawn')
  from tieout.instructions i
  left join open_order o on (o.account_id, o.order_no) = (i.account_id, i.order_no)
  cross join lateral unnest(i.asked_by) with ordinality as a (name, at)
  union all
  select 'refund_requests', jsonb_build_object('account_id', r.account_id,
      'refund_id', r.refund_id), f.field, f.text, array[r.order_no, r.refund_id], null, null,
    null, null, false, f.field = 'requested_by' and (o.order_no is not null
      -- also what may yet be planned
      or not exists (select from tieout.instructions i
        where i.account_id = r.account_id and i.refund_id = r.refund_id
          and i.operation = 'refund' and (i.state in ('confirmed', 'rejected')
            or exists (select from tieout.decisions d
              where d.instruction_id = i.instruction_id and d.decision = 'reject'))))
  from ledger.refund_requests r
  left join open_order o on (o.account_id, o.order_no) = (r.account_id, r.order_no)
  cross join lateral (values ('reason', r.reason), ('requested_by', r.requested_by))
    as f (field, text)
) w
where length(w.text) >= $1::int
order by 1, 2, 3, w.path
