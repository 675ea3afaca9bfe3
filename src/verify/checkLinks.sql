-- The next links of a chain beside what is found of them now: the facts that bear the link, and the
-- link's own digest worked out again. $1 account, $2 after this link number, $3 how many.
select l.link_no, l.business_date, l.what, l.facts, l.facts_sha256, l.previous_sha256, l.sha256,
  f.facts as found_facts, f.facts_sha256 as found_sha256,
  tieout.link_sha256(l) as own_sha256, tieout.redacted_sha256(l) as expected_sha256,
  r.link_id is not null as is_removed,
  -- A look goes with its whole month, or not at all.
  r.link_id is not null and (
    replace(e.month, '_', '') <> case when w.pull_id >= 10000100000000
      then (w.pull_id / 100000000)::text else 'before' end
    or to_regclass('tieout.asked_orders_' || e.month) is not null
    or exists (select from tieout.asked_orders o
      where o.pull_id = w.pull_id and o.account_id = w.account_id)
    or exists (select from tieout.pages p
      where p.pull_id = w.pull_id and p.account_id = w.account_id)) as is_still_there
from (
  select * from tieout.chain_links
  where account_id = $1 and link_no > $2::bigint order by link_no limit $3::int
) as chosen
join tieout.chain_links l using (account_id, link_no)
cross join lateral tieout.link_facts(l.link_id, l.what, l.account_id) f
-- A snapshot that was removed is gone with a record of what it was, which is sealed itself.
left join tieout.removed_looks w
  on w.link_id = l.link_id and w.account_id = l.account_id and l.what = 'look'
    and w.facts = l.facts and w.facts_sha256 = l.facts_sha256
left join tieout.evidence_removals e using (removal_id)
left join tieout.chain_links r
  on r.link_id = e.link_id and r.account_id = '' and r.what = 'removal'
order by l.link_no
