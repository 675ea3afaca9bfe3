-- Up Migration
-- What a person moves by hand stands in the journal of permits, as what a batch sends: a database
-- that goes back behind it lacks the permit, and holds what the permit names.
alter table tieout.gateway_calls add column permit_id uuid;
create unique index gateway_calls_by_permit on tieout.gateway_calls (permit_id)
  where permit_id is not null;

create or replace function tieout.guard_gateway_call() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.outcome is not null
    or (new.call_id, new.account_id, new.operation, new.called_by, new.is_claim, new.host, new.at,
      new.body_sha256, new.entries, new.permit_id)
    is distinct from (old.call_id, old.account_id, old.operation, old.called_by, old.is_claim,
      old.host, old.at, old.body_sha256, old.entries, old.permit_id) then
    raise exception 'what was called by hand is not edited' using errcode = '23514';
  end if;
  return new;
end $$;

-- Does this database know a permit of a journal: an attempt of a batch, or a call by hand?
create function tieout.knows_permit(permit uuid) returns boolean language sql stable as $$
  select exists (select from tieout.attempts where attempt_id = permit)
    or exists (select from tieout.gateway_calls where permit_id = permit)
$$;

-- Down Migration
drop function tieout.knows_permit(uuid);
create or replace function tieout.guard_gateway_call() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.outcome is not null
    or (new.call_id, new.account_id, new.operation, new.called_by, new.is_claim, new.host, new.at,
      new.body_sha256, new.entries)
    is distinct from (old.call_id, old.account_id, old.operation, old.called_by, old.is_claim,
      old.host, old.at, old.body_sha256, old.entries) then
    raise exception 'what was called by hand is not edited' using errcode = '23514';
  end if;
  return new;
end $$;
alter table tieout.gateway_calls drop column permit_id;
