-- Up Migration
-- A payout stands in place of one of the same content also where it was approved for just that
-- before it was approved for another reason.
create or replace function tieout.is_in_place_of(i tieout.instructions, other tieout.instructions)
returns boolean language sql stable as $$
  select i.operation = other.operation and case i.operation
    when 'payout' then i.transaction_id = other.transaction_id
      or i.payload - 'request_id' = other.payload - 'request_id' and (
        'twin_request' = i.hold_reason or 'twin_request' = any (string_to_array(i.doubled, ' '))
        or exists (select from tieout.decisions d
          where d.instruction_id = i.instruction_id and d.decision = 'approve'
            and d.row_before ->> 'hold_reason' = 'twin_request'))
    when 'refund' then i.account_id = other.account_id and i.order_no = other.order_no
      or i.refund_id = other.refund_id
        and (i.account_id = other.account_id or i.transaction_id = other.transaction_id
          or i.refund_amount = other.refund_amount)
    else i.account_id = other.account_id and i.order_no = other.order_no
      or i.transaction_id = other.transaction_id
  end
$$;

-- Down Migration
create or replace function tieout.is_in_place_of(i tieout.instructions, other tieout.instructions)
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
