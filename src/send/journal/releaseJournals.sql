-- A person lets a freeze go. Of the journals that were named since sending was last let go, what
-- they know up to now is no reason to stop any more. The others are read anew when they come: what
-- they know and the database does not, nobody has seen yet. Until then nobody waits for them.
with named as (
  select j."journalId" as journal_id, j.host, j.place, b.found -> 'lost' as lost
  from tieout.brakes b, jsonb_to_recordset(b.found -> 'journals')
    as j ("journalId" uuid, host text, place text)
  where b.kind = 'freeze' and b.is_on and b.seq > coalesce((
    select max(seq) from tieout.brakes where kind = 'freeze' and not is_on), 0)
),
known as (
  update tieout.journals j set excused_at = clock_timestamp(), verified_file = null,
    verified_bytes = 0, verified_system = null,
    released_at = case when j.journal_id in (select journal_id from named)
        or exists (select from named where lost ? j.journal_id::text)
      then clock_timestamp() else released_at end
  returning j.journal_id
)
insert into tieout.journals (journal_id, host, place, released_at, excused_at)
select distinct on (journal_id) journal_id, host, place, clock_timestamp(), clock_timestamp()
from named where journal_id not in (select journal_id from known)
on conflict (journal_id) do nothing
