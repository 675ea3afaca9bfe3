-- Up Migration
-- That the database came back, and that a journal names what it has lost of the order, is part of
-- what is seen of an instruction: who saw it before that, in a workbook of before, or with a digest
-- from before, did not know that it may have been sent since. Where it never came back, what is
-- seen is what it was.
create function tieout.put_back_seen(i tieout.instructions)
returns jsonb language sql stable as $function$
  select case when b.at is null then '{}'::jsonb else jsonb_build_object('putBack',
    jsonb_build_object('at', b.at at time zone 'UTC', 'lost', (
      select max(l.found_at) at time zone 'UTC' from tieout.lost_permits l
      where l.account_id = i.account_id
        and (l.order_no = i.order_no or l.refund_id = i.refund_id)))) end
  from (select max(at) as at from tieout.put_backs) b
$function$;

do $$ begin
  execute replace(pg_get_functiondef('tieout.seen_at(tieout.instructions,bigint)'::regprocedure),
    '|| tieout.calls_seen(i)', '|| tieout.calls_seen(i) || tieout.put_back_seen(i)');
end $$;

-- Down Migration
do $$ begin
  execute replace(pg_get_functiondef('tieout.seen_at(tieout.instructions,bigint)'::regprocedure),
    ' || tieout.put_back_seen(i)', '');
end $$;
drop function tieout.put_back_seen(tieout.instructions);
