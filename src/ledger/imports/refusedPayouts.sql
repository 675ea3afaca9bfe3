-- Lines of payout requests that the ledger cannot take. $1 limit, $2 whether older lines are taken,
-- too.
select file_no, line_no, "column", value, reason
from (
  select file_no, line_no, 'payload' as "column", '(not shown)' as value,
    'a payout request never changes: another payment is another request' as reason
  from import_fate
  where payload <> held_payload
  union all
  select file_no, line_no, 'account_id', account_id,
    'the account of a payout request never changes: the ledger has ' || held_account_id
  from import_fate
  where account_id <> held_account_id
  union all
  select file_no, line_no, 'requested_at', to_char(requested_at at time zone 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    'steps back, the ledger has ' || to_char(held_requested_at at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': an older export? --allow-older takes it all the same'
  from import_fate
  where requested_at < held_requested_at and not $2::boolean
) refused
order by file_no, line_no
limit $1
