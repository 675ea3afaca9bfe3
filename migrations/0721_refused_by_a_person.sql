-- Up Migration
-- What a person refused goes under another id as little as what the gateway refused: a refund of
-- the same amount, or with the same letters, of that order waits for a person, until the refused
-- one is planned again. Payouts do so already.
do $$ begin
  execute replace(
    pg_get_functiondef('tieout.doubled(text,text,text,text,text,numeric)'::regprocedure),
    $old$case when i.state = 'rejected' then i.replan_id is null$old$,
    $new$case when i.state = 'rejected' or i.is_refused then i.replan_id is null$new$);
end $$;

-- Down Migration
do $$ begin
  execute replace(
    pg_get_functiondef('tieout.doubled(text,text,text,text,text,numeric)'::regprocedure),
    $new$case when i.state = 'rejected' or i.is_refused then i.replan_id is null$new$,
    $old$case when i.state = 'rejected' then i.replan_id is null$old$);
end $$;
