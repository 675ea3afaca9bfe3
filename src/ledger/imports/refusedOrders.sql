-- Lines of orders that the ledger cannot take. $1 limit, $2 whether older lines are taken, too, $3
-- how far an expected state has come, in order. A newer time proves that a line is the later word,
-- whatever it says.
select file_no, line_no, "column", value, reason
from (
  select file_no, line_no, 'capture_amount' as "column", capture_amount::text as value,
    'the line has no capture_amount, and the one in the ledger is above the new amount' as reason
  from import_fate
  where fate = 'updated' and capture_amount > amount
  union all
  select file_no, line_no, 'expected', expected,
    'steps back, the ledger has ' || held_expected
      || ': an older export? --allow-older takes it all the same'
  from import_fate
  where fate = 'updated' and not $2::boolean and (line_time > held_updated_at) is not true
    and array_position($3::text[], expected) < array_position($3::text[], held_expected)
  union all
  select file_no, line_no, 'updated_at', null,
    'steps back, the ledger has ' || to_char(held_updated_at at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ': an older export? --allow-older takes it all the same'
  from import_fate
  where fate = 'updated' and not $2::boolean and held_updated_at is not null
    and updated_at is null
) refused
order by file_no, line_no, "column"
limit $1
