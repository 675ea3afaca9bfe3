-- Into which class does each order fall that is not plainly matched? The first that fits
-- (docs/CONTRACT.md section 6). $1 run.
update :verdicts v
set class = case
    when v.not_compared is not null then 'notCompared'
    when exists (select from :breaks b where b.account_id = v.account_id
      and b.order_no = v.order_no and b.state = 'open'
      and not tieout.stands_apart(b.kind)) then 'broken'
    -- Sent after the look that its verdict is from, and unknown since: no break says so yet, and
    -- what is unknown is not due. Nobody has looked at it since, which makes the run incomplete.
    when v.need is not null and exists (select from :instructions i
      where i.account_id = v.account_id and i.order_no = v.order_no
        and i.is_open and i.state = 'unknown') then 'notCompared'
    when v.need is not null or exists (select from :instructions i
      where i.account_id = v.account_id and i.order_no = v.order_no
        and i.is_open and i.state <> 'unknown') then 'due'
    when v.awaited then 'awaited'
    when v.tolerated or exists (select from :breaks b where b.account_id = v.account_id
      and b.order_no = v.order_no and b.state = 'waived'
      and not tieout.stands_apart(b.kind)) then 'explained'
    else 'matched'
  end
where v.run_id = $1::bigint
