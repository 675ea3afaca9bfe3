-- Up Migration
-- Tries of somebody who is signed in count for that session alone, so that nobody else can use
-- them up; an address from which a name signed in lately is not stopped by guesses from others.
alter table tieout.sign_in_failures add column session_sha256 bytea;
create index sign_in_failures_by_session on tieout.sign_in_failures (session_sha256, at)
  where session_sha256 is not null;
create index console_events_known on tieout.console_events (lower(who), address, at)
  where action = 'sign in' and outcome = 'known';
-- Of a notification its hints are kept and nothing else; what came before stays as it is.
create index look_hints_by_time on tieout.look_hints (hinted_at);

-- Down Migration
drop index tieout.look_hints_by_time;
drop index tieout.console_events_known;
drop index tieout.sign_in_failures_by_session;
alter table tieout.sign_in_failures drop column session_sha256;
