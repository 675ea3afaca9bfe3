-- Orders of a second snapshot that matched plainly in the first one are judged anew: they leave the
-- count of that look, since they are counted where they are found now. $1 run, $2 second snapshot.
with again as (
  select a.pull_id, a.account_id, count(*) as orders
  from :run_accounts account
  join :asked_orders second
    on second.pull_id = $2::bigint and second.account_id = account.account_id
  join :asked_orders a
    on a.pull_id = account.pull_id and a.account_id = second.account_id
      and a.order_no = second.order_no
  where account.run_id = $1::bigint
    and not exists (select from :verdicts v
      where v.run_id = $1 and v.account_id = a.account_id and v.order_no = a.order_no)
    -- gone on both sides, it was in no count
    and (a.in_ledger or exists (select from :look_entries e
      where e.pull_id = a.pull_id and e.account_id = a.account_id and e.order_no = a.order_no
        and (e.is_extra or not e.is_extra)))
  group by a.pull_id, a.account_id
)
update :pulls p set matched = (
  select jsonb_object_agg(key, value::bigint - coalesce(again.orders, 0))
  from jsonb_each_text(p.matched)
  left join again on again.pull_id = p.pull_id and again.account_id = key)
where p.pull_id in (select pull_id from again)
