-- Up Migration
-- What a person moved or decided at the gateway by hand (`tieout gateway`): written before the
-- first byte is sent, so that a night that finds its effect can name who made it. No instruction:
-- nothing is confirmed or sent again because of it. The outcome is written once; null: nobody knows
-- the end.
create table tieout.gateway_calls (
  call_id bigint generated always as identity primary key,
  account_id text collate "C" not null,
  operation text not null,
  -- a name from the command line is a claim
  called_by text not null,
  is_claim boolean not null,
  host text not null,
  at timestamptz not null default clock_timestamp(),
  -- of the request's body
  body_sha256 bytea not null,
  -- ids, amounts and currencies of what it names: [{order_no, transaction_id, ...}]
  entries jsonb not null check (jsonb_typeof(entries) = 'array'),
  outcome text,
  reason text,
  http_status int,
  ended_at timestamptz,
  check ((outcome is null) = (ended_at is null))
);
create index gateway_calls_by_entry on tieout.gateway_calls using gin (entries jsonb_path_ops);

create function tieout.guard_gateway_call() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.outcome is not null
    or (new.call_id, new.account_id, new.operation, new.called_by, new.is_claim, new.host, new.at,
      new.body_sha256, new.entries)
    is distinct from (old.call_id, old.account_id, old.operation, old.called_by, old.is_claim,
      old.host, old.at, old.body_sha256, old.entries) then
    raise exception 'what was called by hand is not edited' using errcode = '23514';
  end if;
  return new;
end
$$;
create trigger guard_gateway_call before update or delete on tieout.gateway_calls
  for each row execute function tieout.guard_gateway_call();

-- Down Migration
drop table tieout.gateway_calls;
drop function tieout.guard_gateway_call();
