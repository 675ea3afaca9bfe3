-- After a restore: whatever waited in a batch leaves it and waits for a person or for the next
-- plan, which weighs it anew. What was in flight is classified as that of any process that died.
with gone as (
  update tieout.batches set state = 'dropped', reason = 'the database was restored from a backup'
  where state = 'queued'
)
update tieout.instructions set state = 'held', hold_reason = 'restored', batch_id = null,
  changed_by = 'tieout'
where is_open and state in ('queued', 'planned')
