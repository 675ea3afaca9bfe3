-- How many instructions match, counted no further than a limit: the settled ones grow with every
-- run. $1 to $4 and $6 (there $7) as instructionList.sql has them, $5 limit.
select count(*) as count from (
  select from tieout.instructions i
  where ($1::text[] is null or (i.state = any ($1)
      and ($6::text is distinct from 'open' or i.is_open)
      and ($6 is distinct from 'void' or i.is_void)))
    and ($2::text[] is null or i.account_id = any ($2))
    and ($3::text is null or i.operation = $3)
    and ($4::text is null or i.order_no = $4)
  limit $5
) as found
