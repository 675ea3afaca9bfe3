-- What a monitor wants to know, read at once: the newest run and the newest that finished, open
-- breaks, unfinished instructions, what stops the sending, and what waits to be told.
-- $1 accounts. One row; the lists as JSON.
with finished as (
  select r.business_date, r.state, r.created_at, r.finished_at, r.summary
  from tieout.runs r
  where not r.is_dry and r.state in ('tied_out', 'broken', 'incomplete')
  order by r.business_date desc limit 1
),
newest as (
  select r.run_id, r.business_date, r.state, r.created_at
  from tieout.runs r where not r.is_dry order by r.business_date desc limit 1
)
select
  (select row_to_json(n) from newest n) as newest,
  (select jsonb_build_object(
      'business_date', f.business_date, 'state', f.state, 'finished_at', f.finished_at,
      'seconds', extract(epoch from f.finished_at - f.created_at),
      'pages', f.summary -> 'pull' -> 'pages',
      'failed_pages', (f.summary -> 'pull' ->> 'failedPages')::bigint + (
        select coalesce(sum((a ->> 'failedLater')::bigint), 0)
        from jsonb_array_elements(f.summary -> 'accounts') a),
      'orders', (
        select sum((a -> 'orders' ->> 'ledger')::bigint + (a -> 'orders' ->> 'strangers')::bigint)
        from jsonb_array_elements(f.summary -> 'accounts') a))
    from finished f) as finished,
  coalesce((
    select jsonb_agg(b) from (
      select account_id, kind as name, count(*) as count from tieout.breaks
      where state = 'open' and account_id = any ($1::text[]) group by account_id, kind) b
  ), '[]') as breaks,
  coalesce((
    select jsonb_agg(i) from (
      select account_id, state as name, count(*) as count from tieout.instructions
      where is_open and account_id = any ($1)
      group by account_id, state) i
  ), '[]') as instructions,
  (
    select min(since.at) from tieout.instructions i
    cross join lateral (
      select max(e.at) as at from tieout.instruction_events e
      where e.instruction_id = i.instruction_id and e.to_state = 'unknown') since
    where i.is_open and i.state = 'unknown' and i.account_id = any ($1)
  ) as oldest_unknown,
  coalesce((
    select jsonb_agg(s) from (
      select coalesce(account_id, '') as account_id, kind as name, 1 as count
      from tieout.standing_brakes
      union all
      select ra.account_id, 'breaker', 1 from tieout.run_accounts ra join newest using (run_id)
      where ra.sending = 'stopped'
      union all
      select ra.account_id, ra.send_block, 1 from tieout.run_accounts ra join newest using (run_id)
      where ra.send_block is not null) s
  ), '[]') as stops
