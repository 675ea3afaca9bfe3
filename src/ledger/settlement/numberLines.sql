-- The staged lines with their id within the batch, and the digest of what each says: its place in
-- the file says nothing, nor does an id that is only its number.
create temp table settlement_in on commit drop as
select s.*,
  coalesce(s.given_id, row_number() over (
    partition by s.account_id, s.batch order by s.file_no, s.line_no)::text) as line_id,
  sha256(convert_to(jsonb_build_array(s.given_id, s.type, extract(epoch from s.booked_at),
    s.order_no, s.transaction_id, s.reference, s.currency, s.amount, s.settle_currency, s.gross,
    s.fee, s.net)::text, 'UTF8')) as digest
from settlement_read s
