-- The decisions over a business day, oldest first, each with what was open then. $1 account,
-- $2 date, $3 how many items one of before could keep.
select account_id as "accountId", business_date as "businessDate", event, at, by,
  is_claim as "isClaim", reason, figures, kept.named as "openItems",
  -- a decision of before kept no more than these, and not how many there were
  case when kept.more is not null or jsonb_array_length(kept.named) < $3
    then jsonb_array_length(kept.named) + coalesce(kept.more, 0) end as "openCount",
  kept.workbook - 'what' as workbook
from tieout.day_events
cross join lateral (
  -- beside them stands what of the ledger was late, with a key for each row
  select coalesce(jsonb_agg(item) filter (where item ->> 'what' in ('break', 'instruction')),
      '[]') as named,
    sum((item ->> 'count')::int) filter (where item ->> 'what' = 'more')::int as more,
    (jsonb_agg(item) filter (where item ->> 'what' = 'workbook')) -> 0 as workbook
  from jsonb_array_elements(open_items) as item
) as kept
where account_id = $1 and business_date = $2 order by event_id
