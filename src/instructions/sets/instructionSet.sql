-- The instructions of a group that do not wait because of a reason of $7, oldest first, with how
-- many there are in all. $1 accounts, $2 state, $3 operation, $4 why they wait, $5 currency: what
-- is null does not matter. $6 at most so many.
select instruction_id as id, count(*) over ()::int as found
from tieout.instructions
where is_open and state = $2 and account_id = any ($1)
  and ($3::text is null or operation = $3)
  and ($4::text is null or hold_reason = $4)
  and ($5::text is null or currency = $5)
  and (hold_reason is null or not hold_reason = any ($7::text[]))
order by instruction_id limit $6
