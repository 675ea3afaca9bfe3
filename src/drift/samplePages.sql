-- Which answered pages of an account stand for all of its snapshot, evenly over it?
-- $1 pull, $2 account, $3 how many at most.
with page as (
  select page_no, row_number() over (order by page_no) as place, count(*) over () as pages
  from :pages
  where pull_id = $1::bigint and account_id = $2 and state = 'answered' and body_gzip is not null
)
select p.body_gzip as body
from page join :pages p using (page_no)
where p.pull_id = $1::bigint and p.account_id = $2
  and (pages <= $3::bigint or place * $3::bigint / pages <> (place - 1) * $3::bigint / pages)
order by page_no
