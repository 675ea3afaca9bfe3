-- Notes by which settings the accounts of a run were planned, and from when on their requests were
-- not history. The next plan is compared with the settings, save where something that they bear on
-- was not weighed: the account may not send, a page of the snapshot is missing, or an order that
-- shows what means something else by now could not be compared. $1 run, $2 accounts [{account_id,
-- live_from}], $3 now, $4 whether all requests of payouts were weighed, $5 what means something
-- else [{account_id, kind, codes}].
update tieout.run_accounts ra set
  acted_from = greatest(ra.acted_from, least(coalesce(a.live_from, $3::timestamptz), $3)),
  planned_by = (select max(settings_id) from tieout.run_settings s where s.run_id = $1),
  weighed_by = case when $4::boolean and ra.send_block is null and not exists (
      select from :verdicts v
      where v.run_id = $1 and v.account_id = ra.account_id and v.not_compared is not null
        and (v.not_compared = 'no_look' or exists (
          select from tieout.look_entries e
          join jsonb_to_recordset($5::jsonb) as c (account_id text, kind text, codes text[])
            on c.account_id = v.account_id
          where e.pull_id = v.pull_id and e.account_id = v.account_id and e.order_no = v.order_no
            -- each half has an index of its own; without this line neither is used
            and (e.is_extra or not e.is_extra)
            and case c.kind when 'payment_status' then e.payment_status
              when 'currency' then e.currency else e.query_result end = any (c.codes))))
    then (select max(settings_id) from tieout.run_settings s where s.run_id = $1)
    else ra.weighed_by end
from jsonb_to_recordset($2::jsonb) as a (account_id text, live_from timestamptz)
where ra.run_id = $1::bigint and ra.account_id = a.account_id
