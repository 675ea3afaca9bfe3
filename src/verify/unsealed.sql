-- What is recorded and bears no link: committed since the last sealing, or added behind its back.
-- `strayed`: those of them that bear one that no chain has.
with chained as materialized (
  select link_id, account_id, what from tieout.chain_links
)
select f.account_id, f.what, count(*) as facts, count(f.link_id) as strayed
from tieout.facts f
left join chained c on c.link_id = f.link_id and c.account_id = f.account_id and c.what = f.what
where c.link_id is null
group by f.account_id, f.what
union all
select ra.account_id, 'look', count(*), 0
from tieout.run_accounts ra
join tieout.runs r on r.run_id = ra.run_id and not r.is_dry
join tieout.pulls p on p.run_id = ra.run_id
where not exists (
    select from tieout.look_links l
    where l.pull_id = p.pull_id and l.account_id = ra.account_id)
  and exists (
    select from tieout.asked_orders a
    where a.pull_id = p.pull_id and a.account_id = ra.account_id)
group by ra.account_id
order by 1, 2
