-- The files of which at least one batch is new, and then these batches; their lines are there. A
-- batch has the digest of its lines as they came; one of very many has none, and the chain works it
-- out. $1 names, $2 digests of the files in the order of their numbers, $3 digest of the map, $4
-- accounts, $5 names, $6 currencies and $7 digests of batches.
with fresh as (
  select * from settlement_batch_in where fate = 'inserted'
),
file as (
  insert into tieout.settlement_files (name, sha256, map_sha256, accounts, batches, lines, totals)
  select ($1::text[])[f.file_no + 1], ($2::text[])[f.file_no + 1], $3::text,
    (select array_agg(distinct a.account_id order by a.account_id) from fresh a
      where a.file_no = f.file_no),
    sum(f.batches), sum(f.lines), jsonb_object_agg(f.currency, jsonb_build_object(
      'lines', f.lines, 'gross', f.gross::text, 'fees', f.fees::text, 'payout', f.payout::text))
  from (
    select file_no, currency, count(*) as batches, sum(lines) as lines, sum(gross) as gross,
      sum(fees) as fees, sum(payout) as payout
    from fresh group by file_no, currency
  ) f
  group by f.file_no
  order by f.file_no
  returning file_id, sha256, name
),
placed as (
  -- The same bytes under two names would be the same batch in two files, and were refused.
  select file.file_id, n.ord - 1 as file_no
  from file
  join unnest($1::text[], $2::text[]) with ordinality as n (name, sha256, ord)
    on n.name = file.name and n.sha256 = file.sha256
)
insert into tieout.settlement_batches (account_id, batch, currency, file_id, lines, gross, fees,
  payout, has_payout, first_booked_at, last_booked_at, digest)
select b.account_id, b.batch, b.currency, p.file_id, b.lines, b.gross, b.fees, b.payout,
  b.has_payout, b.first_booked_at, b.last_booked_at, coalesce(d.digest, '')
from fresh b
join placed p using (file_no)
left join unnest($4::text[], $5::text[], $6::text[], $7::text[])
  as d (account_id, batch, currency, digest)
  on d.account_id = b.account_id and d.batch = b.batch and d.currency = b.currency
