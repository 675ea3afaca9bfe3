-- What people decided, each with its text and the signatures under it. $1 kind of fact, $2 ids.
select f.pos as id, f.account_id as "accountId", f.line, coalesce((
    select jsonb_agg(jsonb_build_object('session', s.session,
      'signature', translate(encode(s.signature, 'base64'), E'\n', '')) order by s.signature_id)
    from tieout.signatures s where s.what = $1 and s.fact_id = f.pos), '[]') as signatures
from tieout.facts f
where f.what = $1 and f.pos = any ($2::bigint[])
order by f.pos
