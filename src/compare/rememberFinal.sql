-- Orders that need no further look: matched, final at the gateway, and older than the look-back.
-- What the gateway has never shown is not final: a late payment of a cancelled order must be seen.
-- The fingerprint is that of askLive.sql, so that a change in the ledger brings the order back; so
-- does a refund request that it was not judged with, or not with that amount. One that was final,
-- was brought back and has not come to its end again is final no more: what becomes of it may come
-- after this run.
-- $1 run, $2 pull, $3 start of the look-back.
with old as materialized (
  select a.* from :asked_orders a
  where a.pull_id = $2::bigint and a.in_ledger and a.placed_at < $3::timestamptz
),
matched as materialized (
  select a.*
  from old a
  join :pages p using (pull_id, account_id, page_no)
  left join :verdicts v
    on v.run_id = $1::bigint and v.account_id = a.account_id and v.order_no = a.order_no
  where p.state = 'answered' and (v.order_no is null or v.class = 'matched')
),
-- The newest snapshot of the run that judged it: what a later one has not shown counts no more.
judged as materialized (
  select m.*, coalesce((
      select max(second.pull_id) from tieout.pulls second
      join :asked_orders again on again.pull_id = second.pull_id
        and again.account_id = m.account_id and again.order_no = m.order_no
      join :pages p on p.pull_id = again.pull_id and p.account_id = again.account_id
        and p.page_no = again.page_no and p.state = 'answered'
      where second.run_id = $1 and second.kind = 'confirm'), m.pull_id) as judged_in
  from matched m
),
final as materialized (
  select j.*, shown.codes
  from judged j
  cross join lateral (
    select count(*) > 0
        and bool_and(coalesce(e.state, '') in ('captured', 'cancelled', 'declined', 'refunded'))
        as is_final,
      array_agg(distinct e.payment_status) filter (where e.payment_status is not null) as codes
    from :look_entries e
    where e.pull_id = j.judged_in and e.account_id = j.account_id and e.order_no = j.order_no
      -- each half has an index of its own; without this line neither is used
      and (e.is_extra or not e.is_extra)
  ) shown
  where shown.is_final
),
no_more as (
  delete from tieout.final_orders f using old a
  where f.account_id = a.account_id and f.order_no = a.order_no
    and not exists (select from final
      where final.account_id = f.account_id and final.order_no = f.order_no)
)
insert into tieout.final_orders (account_id, order_no, fingerprint, run_id, requests, codes)
select a.account_id, a.order_no,
  md5(row(a.currency, a.amount, a.expected, a.transaction_id, a.capture_amount,
    a.review_decision, a.placed_at)::text),
  $1,
  array(select r.refund_id || ' ' || coalesce(trim_scale(r.refund_amount)::text, 'gone')
    from :asked_refunds r
    where r.pull_id = a.judged_in and r.account_id = a.account_id and r.order_no = a.order_no
    order by r.refund_id),
  a.codes
from final a
on conflict (account_id, order_no)
  do update set fingerprint = excluded.fingerprint, run_id = excluded.run_id,
    requests = excluded.requests, codes = excluded.codes
  where (final_orders.fingerprint, final_orders.requests, final_orders.codes)
    is distinct from (excluded.fingerprint, excluded.requests, excluded.codes)
