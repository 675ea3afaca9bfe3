-- Up Migration
-- Whether a link that a redaction names seals a text that the same redaction names: of the kinds
-- that hold what people wrote, and of no other. A record of a redaction says nothing of any other
-- link, which has to come to what was sealed.
create function tieout.is_of_words(k tieout.redacted_links) returns boolean
language sql stable as $$
  select exists (
    select from tieout.redacted_texts t
    where t.redaction_id = k.redaction_id and case k.what
      when 'decision' then t.relation = 'decisions' and exists (
        select from tieout.decisions d where d.link_id = k.link_id and d.account_id = k.account_id
          and t.key = jsonb_build_object('decision_id', d.decision_id))
      when 'instruction' then t.relation = 'instruction_events' and exists (
        select from tieout.instruction_events e join tieout.instructions i using (instruction_id)
        where e.link_id = k.link_id and i.account_id = k.account_id
          and t.key = jsonb_build_object('seq', e.seq))
      when 'break' then t.relation = 'break_events' and exists (
        select from tieout.break_events e join tieout.breaks b using (break_id)
        where e.link_id = k.link_id and b.account_id = k.account_id
          and t.key = jsonb_build_object('event_id', e.event_id))
      when 'day' then t.relation = 'day_events' and exists (
        select from tieout.day_events e where e.link_id = k.link_id and e.account_id = k.account_id
          and t.key = jsonb_build_object('event_id', e.event_id))
      when 'brake' then t.relation = 'brakes' and exists (
        select from tieout.brakes b where b.link_id = k.link_id
          and t.key = jsonb_build_object('seq', b.seq))
      -- the notices of a night repeat why somebody had stopped the sending
      when 'end' then t.relation = 'run_ends' and exists (
        select from tieout.run_ends e where e.link_id = k.link_id
          and t.key = jsonb_build_object('end_id', e.end_id))
    end)
$$;
create or replace function tieout.redacted_sha256(l tieout.chain_links) returns text
language sql stable as $$
  select coalesce((
    select k.after_sha256
    from tieout.redacted_links k
    join tieout.redactions r using (redaction_id)
    join tieout.chain_links s
      on s.link_id = r.link_id and s.account_id = '' and s.what = 'redaction'
    where k.link_id = l.link_id and k.account_id = l.account_id and k.what = l.what
      and k.facts = l.facts and k.sealed_sha256 = l.facts_sha256 and tieout.is_of_words(k)
    order by k.redaction_id desc limit 1), l.facts_sha256)
$$;

-- Down Migration
create or replace function tieout.redacted_sha256(l tieout.chain_links) returns text
language sql stable as $$
  select coalesce((
    select k.after_sha256
    from tieout.redacted_links k
    join tieout.redactions r using (redaction_id)
    join tieout.chain_links s
      on s.link_id = r.link_id and s.account_id = '' and s.what = 'redaction'
    where k.link_id = l.link_id and k.account_id = l.account_id and k.what = l.what
      and k.facts = l.facts and k.sealed_sha256 = l.facts_sha256
    order by k.redaction_id desc limit 1), l.facts_sha256)
$$;
drop function tieout.is_of_words;
