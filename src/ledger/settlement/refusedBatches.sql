-- Lines and batches that cannot be taken, in the order of the files. $1 limit, $2 the names of the
-- files, $3 the first id of each, $4 whether a batch may have an id twice: ids that ascend do not.
with line as not materialized (
  select width_bucket(settlement_line_id, $3::bigint[]) - 1 as file_no, line_no, account_id, batch,
    line_id, type, settle_currency, net
  from tieout.settlement_lines where settlement_line_id >= ($3::bigint[])[1]
  union all
  select file_no, line_no, account_id, batch, line_id, type, settle_currency, net
  from settlement_again
)
select file_no, line_no, "column", value, reason
from (
  select file_no, line_no, 'line_id' as "column", line_id as value,
    'is already in line ' || first_line || ': a batch has each line once' as reason
  from (
    select file_no, line_no, line_id, first_value(line_no) over same as first_line,
      row_number() over same as nth
    from line
    join (
      select account_id, batch, line_id from line where $4
      group by account_id, batch, line_id having count(*) > 1
    ) repeated using (account_id, batch, line_id)
    window same as (partition by account_id, batch, line_id order by file_no, line_no)
  ) numbered
  where nth > 1
  union all
  select i.file_no, min(i.line_no), 'batch', i.batch, 'is also in '
    || ($2::text[])[min(b.file_no) + 1] || ': a batch comes whole in one file'
  from (
    select account_id, batch, min(file_no) as file_no, max(last_file_no) as last_file_no
    from settlement_batch_in
    group by account_id, batch having min(file_no) < max(last_file_no)
  ) b
  join line i using (account_id, batch)
  where i.file_no > b.file_no
  group by i.file_no, i.account_id, i.batch
  union all
  select b.file_no, b.payout_line_no, 'net', i.net::text, 'the ' || b.lines || ' lines of batch '
    || b.batch || ' in ' || b.currency || ' come to ' || b.net || ', payout included: must be 0.00'
  from settlement_batch_in b
  join line i on i.file_no = b.file_no and i.line_no = b.payout_line_no
    and i.account_id = b.account_id and i.batch = b.batch and i.type = 'payout'
    and i.settle_currency = b.currency
  where b.has_payout and b.net <> 0 and b.file_no = b.last_file_no
  union all
  select min(b.file_no), min(b.line_no), 'batch', b.batch, 'was taken on '
    || to_char(min(f.imported_at) at time zone 'UTC', 'YYYY-MM-DD') || ' from ' || min(f.name)
    || ' with ' || min(b.taken_lines) || ' lines, and this file says something else of it ('
    || sum(b.lines) || ' lines): what was taken is never changed'
  from settlement_batch_in b
  join tieout.settlement_files f on f.file_id = b.taken_file_id
  where b.fate = 'differs' and b.file_no = b.last_file_no
  group by b.account_id, b.batch
) refused
order by file_no, line_no
limit $1
