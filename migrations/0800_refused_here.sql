-- Up Migration
-- The no of a person behind a break: the newest instruction of just what the two sides would want
-- of the order, where it was refused and nobody had it planned again; null: there is none. Only of
-- the kinds refund_mismatch and state_mismatch, which is what a refused one leaves.
create function tieout.refused_here(
  of_account text, of_order text, of_kind text, expected jsonb, actual jsonb
) returns jsonb language sql stable as $$
  select case when i.is_refused and i.replan_id is null then jsonb_build_object(
    'operation', i.operation, 'currency', i.currency,
    'amount', round(coalesce(i.refund_amount, i.amount), 2)::text, 'by', (
      select d.decided_by from tieout.decisions d
      where d.instruction_id = i.instruction_id and d.decision = 'reject'
      order by d.decision_id desc limit 1)) end
  from tieout.instructions i
  where i.account_id = of_account and i.order_no = of_order
    and i.operation = case
      when of_kind = 'refund_mismatch' then 'refund'
      when of_kind <> 'state_mismatch' then null
      when actual ->> 'state' = 'in_review' then 'review'
      when actual ->> 'state' <> 'authorised' then
        case when expected ->> 'state' = 'cancelled' then 'refund' end
      when expected ->> 'state' = 'captured' then 'capture'
      when expected ->> 'state' = 'cancelled' then 'cancel'
    end
  order by i.instruction_id desc limit 1
$$;

-- Down Migration
drop function tieout.refused_here;
