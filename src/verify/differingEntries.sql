-- Where do the entries that a run compared differ from those decoded again out of the stored
-- answers? One row a field. The entries of today are in pg_temp.look_entries. $1 how many at most.
select coalesce(t.account_id, n.account_id) as account_id,
  coalesce(t.order_no, n.order_no) as order_no,
  'entry ' || coalesce(t.page_no, n.page_no) || '/' || coalesce(t.position, n.position) || ' '
    || f.field as what,
  f.then_value, f.now_value
from (select * from tieout.look_entries where pull_id in (select pull_id from pg_temp.decoded)) t
full join (
    select * from pg_temp.look_entries where pull_id in (select pull_id from pg_temp.decoded)) n
  on n.pull_id = t.pull_id and n.account_id = t.account_id and n.page_no = t.page_no
    and n.position = t.position
cross join lateral (
  select coalesce(a.key, b.key) as field, a.value as then_value, b.value as now_value
  from jsonb_each_text(to_jsonb(t)) a
  full join jsonb_each_text(to_jsonb(n)) b on b.key = a.key
  where a.value is distinct from b.value
) f
where t.* is distinct from n.*
  -- nights of before it was kept have none
  and not (f.field = 'recurring_status' and f.then_value is null)
  -- nor what came in the place of a text (core/text/otherType.ts)
  and not (f.then_value is null and f.now_value ~
    '^\((missing|null|number|boolean|list|object|no readable text)\)')
  -- nor a card number in a text that was cut before it was masked: in no more than its digits
  and (length(f.then_value) between 100 and 201 and f.then_value like '%…'
    and f.now_value like '%*%…'
    and f.then_value like replace(regexp_replace(f.now_value, '([\\%_])', '\\\1', 'g'), '*', '_')
    and translate(f.then_value, '0123456789', '**********')
      = translate(f.now_value, '0123456789', '**********')) is not true
order by 1, 2, 3
limit $1
