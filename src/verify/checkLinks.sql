-- The next links of a chain beside what is found of them now: the facts that bear the link, and the
-- link's own digest worked out again. $1 account, $2 after this link number, $3 how many.
select l.link_no, l.business_date, l.what, l.facts, l.facts_sha256, l.previous_sha256, l.sha256,
  f.facts as found_facts, f.facts_sha256 as found_sha256,
  tieout.link_sha256(l) as own_sha256, e.link_id is not null as is_removed
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
order by l.link_no
