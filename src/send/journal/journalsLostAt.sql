-- $1 the journal that stands at this place now, $2 host, $3 place.
select journal_id from tieout.journals j
where host = $2 and place = $3 and journal_id <> $1 and (
  (j.verified_at > clock_timestamp() - interval '30 days'
    and (j.excused_at is null or j.excused_at < j.verified_at))
  or exists (
    select from tieout.attempts t where t.journal_id = j.journal_id
      and (j.released_at is null or t.claimed_at > j.released_at)))
