-- Up Migration
-- Why an instruction may be a movement that was made already, as the newest plan found: also where
-- it waits for a reason that comes first, and whoever approves it for that one is not asked about
-- this. What the plan alone can know is asked again by nobody.
alter table tieout.instructions add column doubled text;
-- That reason, as long as no approval that holds was given in sight of it.
create function tieout.unseen_double(i tieout.instructions)
returns text language sql stable as $$
  select i.doubled
  where not exists (
    select from tieout.decisions d
    where d.instruction_id = i.instruction_id and d.decision = 'approve'
      and d.row_before ->> 'hold_reason' = i.doubled and d.expires_at > clock_timestamp()
      and d.seen_sha256 = tieout.seen_sha256(tieout.seen_of(i)))
$$;
-- A payout whose request asks for no other one by another number: it was made, or may have been,
-- also by hand, or the gateway or a person refused it, and nobody had it planned again.
create function tieout.bars_twins(i tieout.instructions)
returns boolean language sql stable as $$
  select i.state in ('sending', 'accepted', 'unknown', 'confirmed')
    or i.replan_id is null and (i.state = 'rejected' or i.is_refused)
    or exists (select from tieout.calls_by_hand(i.transaction_id))
$$;

-- Down Migration
drop function tieout.bars_twins;
drop function tieout.unseen_double;
alter table tieout.instructions drop column doubled;
