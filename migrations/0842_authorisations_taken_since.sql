-- Up Migration
-- What was captured or let go after the newest look of it is reserved no more, though no look of a
-- night shows it yet.
create or replace function tieout.open_authorisations(rules jsonb, is_all boolean, until date)
returns table (account_id text, order_no text, transaction_id text, currency text, amount numeric,
  since timestamptz, lapses_at timestamptz, warn_until timestamptz, expected text,
  seen_at timestamptz, is_gap boolean)
language sql stable as $$
  with recursive account as (
    select r.account_id collate "C" as account_id, r.warn_until,
      make_interval(hours => r.valid_hours) as valid_for
    from jsonb_to_recordset(rules)
      as r (account_id text, valid_hours int, warn_until timestamptz)
  ),
  look as (
    select a.account_id, 1 as nth, l.run_id, l.pull_id, l.as_of, l.business_date, l.has_gap
    from account a cross join lateral tieout.finished_look(a.account_id, until + 1) l
    union all
    select look.account_id, look.nth + 1, l.run_id, l.pull_id, l.as_of, l.business_date, l.has_gap
    from look cross join lateral tieout.finished_look(look.account_id, look.business_date) l
    where look.has_gap and look.nth < 40
  ),
  later as materialized (
    select distinct on (again.account_id, again.order_no) again.account_id, again.order_no,
      again.pull_id, p.as_of
    from look
    join tieout.pulls p on p.pull_id > look.pull_id and p.finished_at is not null
      and (until is null and p.run_id >= look.run_id and p.kind in ('confirm', 'fresh')
        or p.run_id = look.run_id and p.kind = 'confirm')
    -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
    cross join lateral (
      select e.account_id, e.order_no, e.pull_id from tieout.look_entries e
      where e.pull_id = p.pull_id and e.account_id = look.account_id and not e.is_extra
      offset 0
    ) again
    where look.nth = 1
    order by again.account_id, again.order_no, again.pull_id desc
  ),
  -- Orders of pages that the newest snapshot has no answer for: earlier ones are asked about these.
  -- The pages are hashed, and the orders of the snapshot walked once, however many pages failed.
  failed_page as materialized (
    select p.account_id, p.page_no
    from look
    join tieout.pages p on p.pull_id = look.pull_id and p.account_id = look.account_id
      and p.state = 'failed'
    where look.nth = 1 and look.has_gap
  ),
  unanswered as materialized (
    select q.account_id, q.order_no
    from look
    cross join lateral (
      select asked.account_id, asked.order_no from tieout.asked_orders asked
      where asked.pull_id = look.pull_id and asked.account_id = look.account_id
        and (asked.account_id, asked.page_no) in (select account_id, page_no from failed_page)
      offset 0
    ) q
    where look.nth = 1 and look.has_gap
  ),
  entry as (
    select look.nth, look.as_of, a.valid_for, a.warn_until, e.*
    from look
    join account a using (account_id)
    cross join lateral (
      select dated.pull_id, dated.account_id, dated.order_no, dated.transaction_id, dated.currency,
        dated.amount, dated.transaction_at
      from tieout.look_entries dated
      where dated.pull_id = look.pull_id and dated.account_id = look.account_id
        and dated.state = 'authorised' and dated.found
        and dated.transaction_at <= case when is_all then 'infinity'
          else a.warn_until - a.valid_for end
      union all
      select undated.pull_id, undated.account_id, undated.order_no, undated.transaction_id,
        undated.currency, undated.amount, undated.transaction_at
      from tieout.look_entries undated
      where undated.pull_id = look.pull_id and undated.account_id = look.account_id
        and undated.state = 'authorised' and undated.found and undated.transaction_at is null
        and (is_all or a.valid_for is not null)
      offset 0
    ) e
    where look.nth = 1
    union all
    select look.nth, look.as_of, a.valid_for, a.warn_until, e.*
    from unanswered u
    join look on look.account_id = u.account_id and look.nth > 1
    join account a on a.account_id = u.account_id
    cross join lateral (
      select gap.pull_id, gap.account_id, gap.order_no, gap.transaction_id, gap.currency,
        gap.amount, gap.transaction_at
      from tieout.look_entries gap
      where gap.pull_id = look.pull_id and gap.account_id = u.account_id
        and gap.order_no = u.order_no and gap.state = 'authorised' and gap.found
        -- each half has an index of its own
        and (gap.is_extra or not gap.is_extra)
      offset 0
    ) e
    where is_all or a.valid_for is not null
  ),
  found as (
    select distinct on (e.account_id, e.order_no, coalesce(e.transaction_id, '')) e.*,
      o.expected, coalesce(e.transaction_at, o.placed_at) as since
    from entry e
    left join lateral (
      select asked.expected, asked.placed_at from tieout.asked_orders asked
      where asked.pull_id = e.pull_id and asked.account_id = e.account_id
        and asked.order_no = e.order_no
      offset 0
    ) o on true
    left join later on later.account_id = e.account_id and later.order_no = e.order_no
    where (later.pull_id is null or exists (
        select from tieout.look_entries x
        where x.pull_id = later.pull_id and x.account_id = e.account_id
          and x.order_no = e.order_no and x.transaction_id is not distinct from e.transaction_id
          -- each half has an index of its own
          and (x.is_extra or not x.is_extra) and x.state = 'authorised'))
      and (e.nth = 1 or not exists (
        select from look newer
        join tieout.asked_orders q on q.pull_id = newer.pull_id
          and q.account_id = newer.account_id and q.order_no = e.order_no
        join tieout.pages p on p.pull_id = q.pull_id and p.account_id = q.account_id
          and p.page_no = q.page_no and p.state = 'answered'
        where newer.account_id = e.account_id and newer.nth < e.nth))
      -- taken since, or let go, as a person found or `tieout send` saw: what a night saw stays
      and (until is not null or not exists (
        select from tieout.instructions i
        where i.account_id = e.account_id and i.order_no = e.order_no
          and i.transaction_id = e.transaction_id and i.operation in ('capture', 'cancel')
          and i.state = 'confirmed' and i.settled_at > coalesce(later.as_of, e.as_of)))
    order by e.account_id, e.order_no, coalesce(e.transaction_id, ''), e.nth
  )
  select f.account_id, f.order_no, f.transaction_id, f.currency, f.amount, f.since,
    f.since + f.valid_for as lapses_at, f.warn_until, f.expected, f.as_of as seen_at,
    f.nth > 1 as is_gap
  from found f
  where (f.expected is null or f.expected not in ('cancelled', 'declined'))
    and (is_all or f.since is null or f.since + f.valid_for <= f.warn_until)
$$;

-- Down Migration
create or replace function tieout.open_authorisations(rules jsonb, is_all boolean, until date)
returns table (account_id text, order_no text, transaction_id text, currency text, amount numeric,
  since timestamptz, lapses_at timestamptz, warn_until timestamptz, expected text,
  seen_at timestamptz, is_gap boolean)
language sql stable as $$
  with recursive account as (
    select r.account_id collate "C" as account_id, r.warn_until,
      make_interval(hours => r.valid_hours) as valid_for
    from jsonb_to_recordset(rules)
      as r (account_id text, valid_hours int, warn_until timestamptz)
  ),
  look as (
    select a.account_id, 1 as nth, l.run_id, l.pull_id, l.as_of, l.business_date, l.has_gap
    from account a cross join lateral tieout.finished_look(a.account_id, until + 1) l
    union all
    select look.account_id, look.nth + 1, l.run_id, l.pull_id, l.as_of, l.business_date, l.has_gap
    from look cross join lateral tieout.finished_look(look.account_id, look.business_date) l
    where look.has_gap and look.nth < 40
  ),
  later as materialized (
    select distinct on (again.account_id, again.order_no) again.account_id, again.order_no,
      again.pull_id
    from look
    join tieout.pulls p on p.pull_id > look.pull_id and p.finished_at is not null
      and (until is null and p.run_id >= look.run_id and p.kind in ('confirm', 'fresh')
        or p.run_id = look.run_id and p.kind = 'confirm')
    -- The offsets keep these walks of an index: joined as a whole, all snapshots would be read.
    cross join lateral (
      select e.account_id, e.order_no, e.pull_id from tieout.look_entries e
      where e.pull_id = p.pull_id and e.account_id = look.account_id and not e.is_extra
      offset 0
    ) again
    where look.nth = 1
    order by again.account_id, again.order_no, again.pull_id desc
  ),
  -- Orders of pages that the newest snapshot has no answer for: earlier ones are asked about these.
  -- The pages are hashed, and the orders of the snapshot walked once, however many pages failed.
  failed_page as materialized (
    select p.account_id, p.page_no
    from look
    join tieout.pages p on p.pull_id = look.pull_id and p.account_id = look.account_id
      and p.state = 'failed'
    where look.nth = 1 and look.has_gap
  ),
  unanswered as materialized (
    select q.account_id, q.order_no
    from look
    cross join lateral (
      select asked.account_id, asked.order_no from tieout.asked_orders asked
      where asked.pull_id = look.pull_id and asked.account_id = look.account_id
        and (asked.account_id, asked.page_no) in (select account_id, page_no from failed_page)
      offset 0
    ) q
    where look.nth = 1 and look.has_gap
  ),
  entry as (
    select look.nth, look.as_of, a.valid_for, a.warn_until, e.*
    from look
    join account a using (account_id)
    cross join lateral (
      select dated.pull_id, dated.account_id, dated.order_no, dated.transaction_id, dated.currency,
        dated.amount, dated.transaction_at
      from tieout.look_entries dated
      where dated.pull_id = look.pull_id and dated.account_id = look.account_id
        and dated.state = 'authorised' and dated.found
        and dated.transaction_at <= case when is_all then 'infinity'
          else a.warn_until - a.valid_for end
      union all
      select undated.pull_id, undated.account_id, undated.order_no, undated.transaction_id,
        undated.currency, undated.amount, undated.transaction_at
      from tieout.look_entries undated
      where undated.pull_id = look.pull_id and undated.account_id = look.account_id
        and undated.state = 'authorised' and undated.found and undated.transaction_at is null
        and (is_all or a.valid_for is not null)
      offset 0
    ) e
    where look.nth = 1
    union all
    select look.nth, look.as_of, a.valid_for, a.warn_until, e.*
    from unanswered u
    join look on look.account_id = u.account_id and look.nth > 1
    join account a on a.account_id = u.account_id
    cross join lateral (
      select gap.pull_id, gap.account_id, gap.order_no, gap.transaction_id, gap.currency,
        gap.amount, gap.transaction_at
      from tieout.look_entries gap
      where gap.pull_id = look.pull_id and gap.account_id = u.account_id
        and gap.order_no = u.order_no and gap.state = 'authorised' and gap.found
        -- each half has an index of its own
        and (gap.is_extra or not gap.is_extra)
      offset 0
    ) e
    where is_all or a.valid_for is not null
  ),
  found as (
    select distinct on (e.account_id, e.order_no, coalesce(e.transaction_id, '')) e.*,
      o.expected, coalesce(e.transaction_at, o.placed_at) as since
    from entry e
    left join lateral (
      select asked.expected, asked.placed_at from tieout.asked_orders asked
      where asked.pull_id = e.pull_id and asked.account_id = e.account_id
        and asked.order_no = e.order_no
      offset 0
    ) o on true
    left join later on later.account_id = e.account_id and later.order_no = e.order_no
    where (later.pull_id is null or exists (
        select from tieout.look_entries x
        where x.pull_id = later.pull_id and x.account_id = e.account_id
          and x.order_no = e.order_no and x.transaction_id is not distinct from e.transaction_id
          -- each half has an index of its own
          and (x.is_extra or not x.is_extra) and x.state = 'authorised'))
      and (e.nth = 1 or not exists (
        select from look newer
        join tieout.asked_orders q on q.pull_id = newer.pull_id
          and q.account_id = newer.account_id and q.order_no = e.order_no
        join tieout.pages p on p.pull_id = q.pull_id and p.account_id = q.account_id
          and p.page_no = q.page_no and p.state = 'answered'
        where newer.account_id = e.account_id and newer.nth < e.nth))
    order by e.account_id, e.order_no, coalesce(e.transaction_id, ''), e.nth
  )
  select f.account_id, f.order_no, f.transaction_id, f.currency, f.amount, f.since,
    f.since + f.valid_for as lapses_at, f.warn_until, f.expected, f.as_of as seen_at,
    f.nth > 1 as is_gap
  from found f
  where (f.expected is null or f.expected not in ('cancelled', 'declined'))
    and (is_all or f.since is null or f.since + f.valid_for <= f.warn_until)
$$;
