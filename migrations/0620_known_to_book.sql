-- Up Migration
-- Whether the book of movements knew an order before a run: something of it was booked, or one of
-- the newest looks had an answer about it. What the first look at an order of before
-- `settlement.from` finds done may have been done before; an order that the book knew did it since.
-- Orders that are not done are asked for each night, so that a few looks tell, whatever pages fail.
create function tieout.known_to_book(account text, "order" text, before_run bigint)
returns boolean language sql stable as $$
  select exists (
    select from tieout.movements m
    where m.account_id = account and m.order_no = "order" and m.run_id < before_run)
  or exists (
    select from (
      select l.pull_id
      from tieout.movement_books b
      join tieout.run_accounts l on l.account_id = b.account_id and l.run_id >= b.run_id
      where b.account_id = account and l.run_id < before_run and l.pull_id is not null
        and not (select r.is_dry from tieout.runs r where r.run_id = l.run_id)
      order by l.business_date desc limit 7
    ) look
    where exists (
      select from tieout.look_entries e
      where e.pull_id = look.pull_id and e.account_id = account and e.order_no = "order"
        and not e.is_extra)
    or (
      select g.state = 'answered'
      from tieout.asked_orders q
      join tieout.pages g using (pull_id, account_id, page_no)
      where q.pull_id = look.pull_id and q.account_id = account and q.order_no = "order"))
$$;

-- Down Migration
drop function tieout.known_to_book;
