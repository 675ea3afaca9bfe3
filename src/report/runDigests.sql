-- Digests of what the reports of a run are made from: its figures, its verdicts, the money it
-- moved. None of them changes once the run has ended; what a person decides later is in none, and
-- neither are its files and those that could not be written, which are known after them. $1 run.
select
  encode(sha256(convert_to(
    coalesce((r.summary - 'reports' - 'unwritten')::text, ''), 'UTF8')), 'hex') as figures,
  encode(sha256(convert_to(coalesce((
    select string_agg(v::text, E'\n' order by v.account_id, v.order_no)
    from tieout.verdicts v where v.run_id = r.run_id), ''), 'UTF8')), 'hex') as verdicts,
  encode(sha256(convert_to(coalesce((
    select string_agg(concat_ws(' ', i.instruction_id, i.account_id, i.order_no, i.operation,
      i.transaction_id, i.currency, i.amount, i.refund_amount), E'\n' order by i.instruction_id)
    from tieout.instructions i
    where i.settled_run_id = r.run_id and i.state = 'confirmed'), ''), 'UTF8')), 'hex')
    as "money moved"
from tieout.runs r where r.run_id = $1::bigint
