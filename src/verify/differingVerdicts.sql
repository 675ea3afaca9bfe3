-- Where do the verdicts of a run differ from those worked out again? One row a field; an order
-- without a verdict was compared and matched. $1 run, $2 how many at most.
select coalesce(t.account_id, n.account_id) as account_id,
  coalesce(t.order_no, n.order_no) as order_no, f.field as what, f.then_value, f.now_value
from (select * from tieout.verdicts where run_id = $1::bigint) t
full join pg_temp.verdicts n on n.account_id = t.account_id and n.order_no = t.order_no
cross join lateral (
  select 'class' as field, 'matched' as then_value, n.class as now_value where t.order_no is null
  union all
  select 'class', t.class, 'matched' where n.order_no is null
  union all
  select a.key, a.value, b.value
  from jsonb_each_text(to_jsonb(t)) a
  join jsonb_each_text(to_jsonb(n)) b on b.key = a.key and a.value is distinct from b.value
  where t.order_no is not null and n.order_no is not null
) f
where t.* is distinct from n.*
order by 1, 2, 3
limit $2
