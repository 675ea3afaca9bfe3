-- Counts a try as failed before it is checked; no row where it has to wait.
-- $1 now, $2 name, $3 address, $4 the session whose password is asked for again, or null,
-- $5 tries before it count no more, $6 most of one name from one address (of one session),
-- $7 of these so many wait for nothing, $8 seconds that the next one waits, doubled each time,
-- $9 most of an address, $10 most of a name from all addresses, $11 since when a sign-in from an
-- address makes it known.
-- What somebody types as a name may be his password: only its digest is kept.
with typed as (
  select encode(sha256(convert_to(lower($2::text), 'UTF8')), 'hex') as name_key
),
own as (
  select count(*) as tries, max(at) as last from tieout.sign_in_failures
  where at > $5::timestamptz and case when $4::bytea is null
    then session_sha256 is null and name_key = (select t.name_key from typed t)
      and address = $3::text
    else session_sha256 = $4::bytea end
),
others as (
  select
    (select count(*) from tieout.sign_in_failures
     where session_sha256 is null and address = $3::text and at > $5::timestamptz) as of_address,
    (select count(*) from tieout.sign_in_failures
     where session_sha256 is null and name_key = (select t.name_key from typed t)
       and at > $5::timestamptz) as of_name
)
insert into tieout.sign_in_failures (at, name_key, address, session_sha256)
select $1::timestamptz, typed.name_key, $3::text, $4::bytea
from typed cross join own cross join others
where own.tries < $6::int
  and (own.tries < $7::int or own.last
    + make_interval(secs => $8::float8 * 2 ^ (own.tries - $7::int)) <= $1::timestamptz)
  and ($4::bytea is not null or (others.of_address < $9::int
    and (others.of_name < $10::int or exists (
      select from tieout.console_events e
      where e.action = 'sign in' and e.outcome = 'known' and lower(e.who) = lower($2::text)
        and e.address = $3::text and e.at > $11::timestamptz))))
returning failure_id
