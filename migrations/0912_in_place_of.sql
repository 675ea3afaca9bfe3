-- Up Migration
-- What waits in place of an instruction that a person found not to have happened: the same
-- operation of its order, by whatever transaction or request; its request, or its movement of the
-- transaction, wherever it stands by now; and a payout of the same content that waits, or was let
-- go, as one that may be it.
create function tieout.is_in_place_of(i tieout.instructions, other tieout.instructions)
returns boolean language sql stable as $$
  select i.operation = other.operation and case i.operation
    when 'payout' then i.transaction_id = other.transaction_id
      or i.payload - 'request_id' = other.payload - 'request_id' and 'twin_request' in (
        i.hold_reason, i.doubled, (select d.row_before ->> 'hold_reason'
          from tieout.decisions d where d.decision_id = i.approval_id))
    when 'refund' then i.account_id = other.account_id and i.order_no = other.order_no
      or i.refund_id = other.refund_id
        and (i.account_id = other.account_id or i.transaction_id = other.transaction_id
          or i.refund_amount = other.refund_amount)
    else i.account_id = other.account_id and i.order_no = other.order_no
      or i.transaction_id = other.transaction_id
  end
$$;

-- Down Migration
drop function tieout.is_in_place_of;
