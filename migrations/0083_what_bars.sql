-- Up Migration
-- What stands in the way of asking anew about an instruction that was refused: another one that is
-- open on its order, or one that had this effect, on whichever order. It is judged when that has
-- gone. A look that contradicts the refusal and an answer that came late both ask here. States in
-- `passing` do not count: what has not been sent can be taken back first. By index each, as what is
-- unique is kept so.
create function tieout.is_barred(refused bigint, passing text[] default '{}') returns boolean
language sql stable as $$
  select exists (
      select from tieout.instructions other
      where other.account_id = i.account_id and other.order_no = i.order_no and other.is_open
        and other.state <> all (passing))
    or exists (
      select from tieout.instructions other
      where other.account_id = i.account_id and other.transaction_id = i.transaction_id
        and other.operation = i.operation and other.operation <> 'refund' and not other.is_void
        and other.state <> all (passing))
    or exists (
      select from tieout.instructions other
      where other.account_id = i.account_id and other.refund_id = i.refund_id
        and other.operation = 'refund' and not other.is_void
        and other.state <> all (passing))
  from tieout.instructions i where i.instruction_id = refused
$$;

-- Down Migration
drop function tieout.is_barred(bigint, text[]);
