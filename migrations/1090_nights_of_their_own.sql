-- Up Migration
-- A night that has an account only in its books, as one that left the configuration, looked at
-- nothing of it: what stopped the account in its last own night stands, and what its own last night
-- told of requests is what was told.
CREATE OR REPLACE FUNCTION tieout.sending_status(accounts text[])
 RETURNS TABLE(account_id text, run_id bigint, send_block text, sending text,
  canary_batch_id bigint, sending_reason text, environment text, settings_sha256 text, brakes jsonb)
 LANGUAGE sql
 STABLE
AS $function$
  select wanted.account_id, newest.run_id, newest.send_block, newest.sending,
    newest.canary_batch_id, newest.sending_reason, newest.environment,
    newest.settings_sha256,
    coalesce((
      select jsonb_agg(jsonb_build_object('kind', b.kind, 'account_id', b.account_id,
        'reason', b.reason, 'by', b.by, 'at', b.at) order by b.seq)
      from tieout.standing_brakes b
      where b.account_id is null or b.account_id = wanted.account_id
    ), '[]') as brakes
  from unnest((select accounts)) as wanted (account_id)
  left join lateral (
    select ra.*, r.environment, r.settings_sha256
    from tieout.run_accounts ra
    join tieout.runs r using (run_id)
    where ra.account_id = wanted.account_id collate "C" and not r.is_dry
      and ra.merchant_id is not null
    order by ra.business_date desc
    limit 1
  ) newest on true
$function$;

CREATE OR REPLACE FUNCTION tieout.younger_requests(account text, since timestamp with time zone,
  look bigint)
 RETURNS TABLE(order_no text, refund_id text, requested_at timestamp with time zone)
 LANGUAGE sql
 STABLE
AS $function$
  select was.order_no, was.refund_id, was.requested_at
  from tieout.pulls own
  join tieout.runs own_run on own_run.run_id = own.run_id
  join tieout.runs r on not r.is_dry and r.business_date <= own_run.business_date
    and r.business_date >= coalesce((
      select max(told.business_date) from tieout.run_accounts t
      join tieout.runs told on told.run_id = t.run_id and not told.is_dry
        and told.summary is not null and told.business_date < own_run.business_date
      where t.account_id = account and t.merchant_id is not null), '-infinity')
  join tieout.pulls p on p.run_id = r.run_id and p.kind = 'night' and p.pull_id < own.pull_id
  join tieout.asked_refunds was on was.pull_id = p.pull_id and was.account_id = account
    and was.requested_at >= since
  where own.pull_id = look
$function$;

-- Down Migration
CREATE OR REPLACE FUNCTION tieout.sending_status(accounts text[])
 RETURNS TABLE(account_id text, run_id bigint, send_block text, sending text,
  canary_batch_id bigint, sending_reason text, environment text, settings_sha256 text, brakes jsonb)
 LANGUAGE sql
 STABLE
AS $function$
  select wanted.account_id, newest.run_id, newest.send_block, newest.sending,
    newest.canary_batch_id, newest.sending_reason, newest.environment,
    newest.settings_sha256,
    coalesce((
      select jsonb_agg(jsonb_build_object('kind', b.kind, 'account_id', b.account_id,
        'reason', b.reason, 'by', b.by, 'at', b.at) order by b.seq)
      from tieout.standing_brakes b
      where b.account_id is null or b.account_id = wanted.account_id
    ), '[]') as brakes
  from unnest((select accounts)) as wanted (account_id)
  left join lateral (
    select ra.*, r.environment, r.settings_sha256
    from tieout.run_accounts ra
    join tieout.runs r using (run_id)
    where ra.account_id = wanted.account_id collate "C" and not r.is_dry
    order by ra.business_date desc
    limit 1
  ) newest on true
$function$;

CREATE OR REPLACE FUNCTION tieout.younger_requests(account text, since timestamp with time zone,
  look bigint)
 RETURNS TABLE(order_no text, refund_id text, requested_at timestamp with time zone)
 LANGUAGE sql
 STABLE
AS $function$
  select was.order_no, was.refund_id, was.requested_at
  from tieout.pulls own
  join tieout.runs own_run on own_run.run_id = own.run_id
  join tieout.runs r on not r.is_dry and r.business_date <= own_run.business_date
    and r.business_date >= coalesce((
      select max(told.business_date) from tieout.run_accounts t
      join tieout.runs told on told.run_id = t.run_id and not told.is_dry
        and told.summary is not null and told.business_date < own_run.business_date
      where t.account_id = account), '-infinity')
  join tieout.pulls p on p.run_id = r.run_id and p.kind = 'night' and p.pull_id < own.pull_id
  join tieout.asked_refunds was on was.pull_id = p.pull_id and was.account_id = account
    and was.requested_at >= since
  where own.pull_id = look
$function$;
