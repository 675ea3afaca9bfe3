-- Accounts that nobody configured, of which the ledger asks for refunds that are neither paid nor
-- refused, or of which that was told and is not over: nobody plans them. One whose name no index
-- could hold is told by a notice. $1 accounts that are configured, $2 start of the look-back.
select account_id from (
  select r.account_id collate "C" as account_id
  from tieout.ledger_refunds() r
  where r.account_id <> all ($1::text[]) and r.account_id <> ''
    and tieout.id_problem(r.account_id) is null
    and (r.requested_at is null or r.requested_at >= $2::timestamptz)
    and not exists (
      select from tieout.instructions i
      where i.account_id = r.account_id collate "C" and i.refund_id = r.refund_id collate "C"
        and i.operation = 'refund' and (i.state = 'confirmed' or i.is_refused)
        and i.replan_id is null)
  union
  select b.account_id from tieout.breaks b
  where b.kind = 'refund_without_order' and b.state <> 'resolved' and b.account_id <> all ($1)
) as account
order by account_id
