-- Up Migration
-- What was lost is known by its transaction, too: a call by hand may name an order otherwise.
create or replace function tieout.put_back_seen(i tieout.instructions)
returns jsonb language sql stable as $function$
  select case when b.at is null then '{}'::jsonb else jsonb_build_object('putBack',
    jsonb_build_object('at', b.at at time zone 'UTC', 'lost', (
      select max(l.found_at) at time zone 'UTC' from tieout.lost_permits l
      where l.account_id = i.account_id and (l.order_no = i.order_no
        or l.refund_id = i.refund_id or l.transaction_id = i.transaction_id)))) end
  from (select max(at) as at from tieout.put_backs) b
$function$;

-- Down Migration
create or replace function tieout.put_back_seen(i tieout.instructions)
returns jsonb language sql stable as $function$
  select case when b.at is null then '{}'::jsonb else jsonb_build_object('putBack',
    jsonb_build_object('at', b.at at time zone 'UTC', 'lost', (
      select max(l.found_at) at time zone 'UTC' from tieout.lost_permits l
      where l.account_id = i.account_id
        and (l.order_no = i.order_no or l.refund_id = i.refund_id)))) end
  from (select max(at) as at from tieout.put_backs) b
$function$;
