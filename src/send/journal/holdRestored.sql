-- The database came back older than it was: whatever waits may have been sent since. What is in a
-- batch leaves it and waits for a person or for the next plan, which weighs it anew; so does what
-- waits for an approval, which might be given for something that was paid, or for a setting. What
-- was in flight is classified as that of any process that died.
-- $1 operations, $2 reasons to hold behind which it may have gone since.
with gone as (
  update tieout.batches set state = 'dropped', reason = 'the database came back from a backup'
  where state = 'queued' and operation = any ($1::text[])
  returning batch_id
)
update tieout.instructions set state = 'held', hold_reason = 'restored', reason = null,
  batch_id = null, changed_by = 'tieout'
-- the batches first, as everybody does
where (select count(*) from gone) >= 0 and is_open and operation = any ($1)
  and (state in ('queued', 'planned') or (state = 'held' and hold_reason = any ($2::text[])))
