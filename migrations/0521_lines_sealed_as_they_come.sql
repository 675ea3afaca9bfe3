-- Up Migration
-- A batch is taken with the digest of its lines as they were handed over, so that sealing it reads
-- none of them again. From its link on the digest is worked out anew of the lines that are there:
-- whoever verifies believes no column. Batches without such a digest have the one of before.
create function tieout.copied(value text) returns text language sql immutable parallel safe as $$
  select coalesce(case when value ~ E'[\\\\\b\t\n\x0B\f\r]' then
    replace(replace(replace(replace(replace(replace(replace(value, '\', '\\'), E'\b', '\b'),
      E'\t', '\t'), E'\n', '\n'), E'\x0B', '\v'), E'\f', '\f'), E'\r', '\r')
    else value end, '\N')
$$;

-- Of a thousand lines each, as COPY takes them, and of these digests: of a million lines the text
-- is too much for one value.
create function tieout.copied_lines_sha256(account text, batch_name text, settled_in text)
returns text language sql stable as $$
  select tieout.fact_digest(string_agg(sha256, '' order by piece))
  from (
    select piece,
      sha256(convert_to(string_agg(line, '' order by settlement_line_id), 'UTF8')) as sha256
    from (
      select settlement_line_id,
        (row_number() over (order by settlement_line_id) - 1) / 1000 as piece,
        concat_ws(E'\t', settlement_line_id, tieout.copied(account_id), tieout.copied(batch),
          tieout.copied(line_id), line_no, type,
          to_char(booked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
          tieout.copied(order_no), tieout.copied(transaction_id), tieout.copied(reference),
          currency, amount, settle_currency, gross, fee, net) || E'\n' as line
      from tieout.settlement_lines
      where account_id = account and batch = batch_name and settle_currency = settled_in
    ) lines
    group by piece
  ) pieces
$$;

do $$ begin
  execute replace(
    pg_get_functiondef('tieout.settled_lines_sha256(text,text,text)'::regprocedure),
    'tieout.settled_lines_sha256(', 'tieout.settled_rows_sha256(');
end $$;

create or replace function tieout.settled_lines_sha256(account text, batch_name text,
  settled_in text)
returns text language sql stable as $$
  select case when b.digest = ''
    then tieout.settled_rows_sha256(account, batch_name, settled_in)
    when exists (select from tieout.chain_links k where k.link_id = b.link_id)
    then tieout.copied_lines_sha256(account, batch_name, settled_in)
    else b.digest end
  from tieout.settlement_batches b
  where b.account_id = account and b.batch = batch_name and b.currency = settled_in
$$;

-- Down Migration
do $$ begin
  execute replace(
    pg_get_functiondef('tieout.settled_rows_sha256(text,text,text)'::regprocedure),
    'tieout.settled_rows_sha256(', 'tieout.settled_lines_sha256(');
end $$;
drop function tieout.settled_rows_sha256(text, text, text);
drop function tieout.copied_lines_sha256(text, text, text);
drop function tieout.copied(text);
