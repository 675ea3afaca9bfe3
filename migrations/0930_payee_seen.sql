-- Up Migration
-- Whoever approves a payout decides to which account it goes and what leaves ours; the digest bound
-- the approval to both, and nobody was shown either. What is kept of it with a decision is the end
-- of the account: an account belongs to a person.
create function tieout.payout_asked(i tieout.instructions)
returns setof jsonb language sql stable rows 1 as $function$
  -- what the ledger asks for now; a view may have it twice
  select p.payload from tieout.ledger_payouts() p
  where p.account_id collate "C" = i.account_id
    and p.request_id collate "C" = i.transaction_id
  order by p.requested_at limit 1
$function$;

create function tieout.payee_account(payload jsonb, is_whole boolean)
returns text language sql immutable as $function$
  select nullif(concat_ws(', ', 'IBAN ' || case when is_whole then a.iban
      else left(a.iban, 2) || '...' || right(a.iban, least(4, length(a.iban) / 3)) end,
    'account ' || case when is_whole then a.account
      else '...' || right(a.account, least(4, length(a.account) / 3)) end), '')
  from (select
    nullif(left(regexp_replace(payload #>> '{beneficiary,bank_details,iban}',
      '\s', '', 'g'), 100), '') as iban,
    nullif(left(regexp_replace(payload #>> '{beneficiary,bank_details,account_number}',
      '\s', '', 'g'), 100), '') as account) a
$function$;

create function tieout.payee_bank(payload jsonb)
returns text language sql immutable as $function$
  select nullif(left(concat_ws(' ', nullif(b.bank ->> 'swift_code', ''),
    nullif(b.bank ->> 'bank_code', ''), nullif(b.bank ->> 'bank_branch', ''),
    nullif(b.bank ->> 'bank_name', ''), nullif(b.bank ->> 'bank_country_code', '')), 200), '')
  from (select payload #> '{beneficiary,bank_details}' as bank) b
$function$;

-- Of a payout what is seen beside its payee and sum; nothing of what its request does not name, so
-- that what was approved of such a one before stays approved.
create function tieout.payout_terms(payload jsonb)
returns jsonb language sql immutable as $function$
  select jsonb_strip_nulls(jsonb_build_object('account', tieout.payee_account(payload, false),
    'bank', tieout.payee_bank(payload), 'sourceAmount', nullif(payload ->> 'source_amount', ''),
    'sourceCurrency', nullif(payload ->> 'source_currency', ''),
    'method', nullif(payload ->> 'payment_method', ''),
    'feePaidBy', nullif(payload ->> 'fee_paid_by', '')))
$function$;

-- By which two payouts go to the same account; null: nothing says where this one goes.
create function tieout.payee_key(payload jsonb)
returns text language sql immutable as $function$
  select case when tieout.payee_account(payload, true) is not null
      or nullif(payload ->> 'beneficiary_id', '') is not null
    then encode(sha256(convert_to(upper(jsonb_build_array(
      tieout.payee_account(payload, true), payload #>> '{beneficiary,bank_details,swift_code}',
      payload #>> '{beneficiary,bank_details,bank_code}', payload ->> 'beneficiary_id')::text),
      'UTF8')), 'hex') end
$function$;

create index payouts_by_payee on tieout.instructions (account_id, tieout.payee_key(payload))
  where operation = 'payout' and state = 'confirmed';

-- For who may approve it, beside what is seen: the whole account, whose it is said to be, and
-- whether a payout to it was confirmed before (null: nothing says where it goes).
create function tieout.payee(i tieout.instructions)
returns jsonb language sql stable as $function$
  select jsonb_build_object('account', tieout.payee_account(p.payload, true),
    'holder', left(nullif(p.payload #>> '{beneficiary,bank_details,account_name}', ''), 200),
    'isKnown', case when tieout.payee_key(p.payload) is not null then exists (
      select from tieout.instructions other
      where other.operation = 'payout' and other.state = 'confirmed'
        and other.account_id = i.account_id
        and tieout.payee_key(other.payload) = tieout.payee_key(p.payload)) end)
  from tieout.payout_asked(i) as p (payload)
  where i.operation = 'payout'
$function$;

do $$
declare
  body text := pg_get_functiondef('tieout.seen_at(tieout.instructions,bigint)'::regprocedure);
  asked text := '(
        select p.payload from tieout.ledger_payouts() p
        where p.account_id collate "C" = i.account_id
          and p.request_id collate "C" = i.transaction_id
        order by p.requested_at limit 1) p)) else';
begin
  if position(asked in body) = 0 then raise 'seen_at is not as it was'; end if;
  body := replace(body, asked, 'tieout.payout_asked(i) as p (payload))) else');
  execute replace(body, 'tieout.seen_sha256(p.payload))
', 'tieout.seen_sha256(p.payload))
        || tieout.payout_terms(p.payload)
');
end $$;

-- Down Migration
do $$
declare
  body text := pg_get_functiondef('tieout.seen_at(tieout.instructions,bigint)'::regprocedure);
begin
  body := replace(body, '
        || tieout.payout_terms(p.payload)', '');
  execute replace(body, 'tieout.payout_asked(i) as p (payload))) else', '(
        select p.payload from tieout.ledger_payouts() p
        where p.account_id collate "C" = i.account_id
          and p.request_id collate "C" = i.transaction_id
        order by p.requested_at limit 1) p)) else');
end $$;
drop index tieout.payouts_by_payee;
drop function tieout.payee(tieout.instructions);
drop function tieout.payee_key(jsonb);
drop function tieout.payout_terms(jsonb);
drop function tieout.payee_bank(jsonb);
drop function tieout.payee_account(jsonb, boolean);
drop function tieout.payout_asked(tieout.instructions);
