-- Up Migration
-- Is a run of an account a history, by which a database is known not to be a lost one? One that
-- came to its plan is: what was asked for before it is remembered as such. One that did not is only
-- for the liveFrom that it could send by then, or a later one: nobody had set that back since.
create function tieout.is_history(e tieout.run_accounts, live_from timestamptz)
returns boolean language sql stable as $$
  select e.merchant_id is not null and e.send_block is distinct from 'no_history'
    and (e.acted_from is not null or e.send_block is null and not exists (
      select from tieout.run_settings s
      cross join lateral jsonb_array_elements(s.settings -> 'accounts') account
      where s.run_id = e.run_id and account ->> 'accountId' = e.account_id
        and (account ->> 'liveFrom')::timestamptz > live_from))
$$;

-- Down Migration
drop function tieout.is_history(tieout.run_accounts, timestamptz);
