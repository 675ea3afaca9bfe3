-- Up Migration
-- What a person moved by hand (`tieout gateway`) of the same order or transaction is part of what
-- is seen of an instruction: whoever approved it in sight of one call had not seen the next one.
-- Where there is none, what is seen is what it was.
create function tieout.calls_seen(i tieout.instructions)
returns jsonb language sql stable as $function$
  select case when count(*) = 0 then '{}'::jsonb else jsonb_build_object(
    'byHand', jsonb_agg(jsonb_build_object('callId', c.call_id, 'operation', c.operation,
      'amount', coalesce(e ->> 'refund_amount', e ->> 'amount'), 'currency', e ->> 'currency',
      'by', c.called_by, 'at', c.at at time zone 'UTC') order by c.call_id)) end
  from tieout.gateway_calls c
  cross join jsonb_array_elements(c.entries) e
  where i.operation <> 'payout' and c.account_id = i.account_id
    and (c.outcome is null or c.outcome not in ('rejected', 'not_sent'))
    and c.entries @> any (array[
      jsonb_build_array(jsonb_build_object('order_no', i.order_no)),
      jsonb_build_array(jsonb_build_object('transaction_id', i.transaction_id))])
    and (e ->> 'order_no' = i.order_no or e ->> 'transaction_id' = i.transaction_id)
$function$;

CREATE OR REPLACE FUNCTION tieout.seen_at(i tieout.instructions, pull bigint)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  select jsonb_build_object(
    'instruction', jsonb_build_object('id', i.instruction_id, 'account', i.account_id,
      'order', i.order_no, 'operation', i.operation, 'transaction', i.transaction_id,
      'currency', i.currency, 'amount', i.amount::text, 'refundId', i.refund_id,
      'refundAmount', i.refund_amount::text, 'refundReason', i.refund_reason,
      'reviewDecision', i.review_decision, 'askedBy', to_jsonb(i.asked_by)),
    'ledger', (
      select jsonb_build_object('expected', l.expected, 'currency', l.currency,
        'amount', round(l.amount, 2)::text, 'captureAmount', round(l.capture_amount, 2)::text,
        'transaction', l.transaction_id, 'reviewDecision', l.review_decision,
        'placedAt', l.placed_at at time zone 'UTC')
      from tieout.ledger_orders('{}', '{}', '') l
      where l.account_id collate "C" = i.account_id and l.order_no collate "C" = i.order_no
      order by l.placed_at, l.amount limit 1),
    'refundRequests', (
      select jsonb_agg(jsonb_build_object('refundId', left(r.refund_id, 512),
        'amount', round(r.refund_amount, 2)::text, 'reason', left(r.reason, 1000),
        'requestedBy', left(r.requested_by, 1000),
        'requestedAt', r.requested_at at time zone 'UTC')
        order by r.refund_id collate "C")
      from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.order_no collate "C" = i.order_no),
    'gateway', (
      select jsonb_agg(distinct jsonb_build_object('transaction', e.transaction_id,
        'state', e.state, 'code', e.payment_status, 'currency', e.currency,
        'amount', coalesce(e.amount::text, e.amount_text), 'found', e.found,
        'fraudRejected', e.fraud_rejected))
      from tieout.look_entries e
      where e.pull_id = pull and e.account_id = i.account_id and e.order_no = i.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)))
    || case when i.operation = 'payout' then jsonb_build_object('payout', (
      -- whom it pays and what for, and a digest of all of it
      select jsonb_build_object('amount', p.payload ->> 'payment_amount',
        'currency', p.payload ->> 'payment_currency', 'beneficiary', coalesce(
          p.payload #>> '{beneficiary,company_name}', concat_ws(' ',
            p.payload #>> '{beneficiary,first_name}', p.payload #>> '{beneficiary,last_name}')),
        'beneficiaryId', p.payload ->> 'beneficiary_id',
        'reference', p.payload ->> 'reference', 'reason', p.payload ->> 'reason',
        'sha256', tieout.seen_sha256(p.payload))
      from (
        select p.payload from tieout.ledger_payouts() p
        where p.account_id collate "C" = i.account_id
          and p.request_id collate "C" = i.transaction_id
        order by p.requested_at limit 1) p)) else '{}' end
    || case when i.operation = 'refund' then tieout.disputes_seen(i) else '{}' end
    || tieout.calls_seen(i)
$function$;

-- Down Migration
CREATE OR REPLACE FUNCTION tieout.seen_at(i tieout.instructions, pull bigint)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  select jsonb_build_object(
    'instruction', jsonb_build_object('id', i.instruction_id, 'account', i.account_id,
      'order', i.order_no, 'operation', i.operation, 'transaction', i.transaction_id,
      'currency', i.currency, 'amount', i.amount::text, 'refundId', i.refund_id,
      'refundAmount', i.refund_amount::text, 'refundReason', i.refund_reason,
      'reviewDecision', i.review_decision, 'askedBy', to_jsonb(i.asked_by)),
    'ledger', (
      select jsonb_build_object('expected', l.expected, 'currency', l.currency,
        'amount', round(l.amount, 2)::text, 'captureAmount', round(l.capture_amount, 2)::text,
        'transaction', l.transaction_id, 'reviewDecision', l.review_decision,
        'placedAt', l.placed_at at time zone 'UTC')
      from tieout.ledger_orders('{}', '{}', '') l
      where l.account_id collate "C" = i.account_id and l.order_no collate "C" = i.order_no
      order by l.placed_at, l.amount limit 1),
    'refundRequests', (
      select jsonb_agg(jsonb_build_object('refundId', left(r.refund_id, 512),
        'amount', round(r.refund_amount, 2)::text, 'reason', left(r.reason, 1000),
        'requestedBy', left(r.requested_by, 1000),
        'requestedAt', r.requested_at at time zone 'UTC')
        order by r.refund_id collate "C")
      from tieout.ledger_refunds() r
      where r.account_id collate "C" = i.account_id and r.order_no collate "C" = i.order_no),
    'gateway', (
      select jsonb_agg(distinct jsonb_build_object('transaction', e.transaction_id,
        'state', e.state, 'code', e.payment_status, 'currency', e.currency,
        'amount', coalesce(e.amount::text, e.amount_text), 'found', e.found,
        'fraudRejected', e.fraud_rejected))
      from tieout.look_entries e
      where e.pull_id = pull and e.account_id = i.account_id and e.order_no = i.order_no
        -- each half has an index of its own; without this line neither is used
        and (e.is_extra or not e.is_extra)))
    || case when i.operation = 'payout' then jsonb_build_object('payout', (
      -- whom it pays and what for, and a digest of all of it
      select jsonb_build_object('amount', p.payload ->> 'payment_amount',
        'currency', p.payload ->> 'payment_currency', 'beneficiary', coalesce(
          p.payload #>> '{beneficiary,company_name}', concat_ws(' ',
            p.payload #>> '{beneficiary,first_name}', p.payload #>> '{beneficiary,last_name}')),
        'beneficiaryId', p.payload ->> 'beneficiary_id',
        'reference', p.payload ->> 'reference', 'reason', p.payload ->> 'reason',
        'sha256', tieout.seen_sha256(p.payload))
      from (
        select p.payload from tieout.ledger_payouts() p
        where p.account_id collate "C" = i.account_id
          and p.request_id collate "C" = i.transaction_id
        order by p.requested_at limit 1) p)) else '{}' end
    || case when i.operation = 'refund' then tieout.disputes_seen(i) else '{}' end
$function$;

drop function tieout.calls_seen(tieout.instructions);
