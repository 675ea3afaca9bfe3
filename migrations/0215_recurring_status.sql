-- Up Migration
-- What an entry says of its subscription; null where it has none. It moves no money: a code of it
-- that has no meaning is told, and so is the first look that shows one ended.
alter table tieout.look_entries add column recurring_status text;
alter table tieout.gateway_words drop constraint gateway_words_field_check;
alter table tieout.gateway_words add constraint gateway_words_field_check
  check (field in ('payment_status', 'query_result', 'recurring_status', 'capture_status',
    'cancel_status', 'review_status', 'refund_message'));

-- Down Migration
delete from tieout.gateway_words where field = 'recurring_status';
alter table tieout.gateway_words drop constraint gateway_words_field_check;
alter table tieout.gateway_words add constraint gateway_words_field_check
  check (field in ('payment_status', 'query_result', 'capture_status', 'cancel_status',
    'review_status', 'refund_message'));
alter table tieout.look_entries drop column recurring_status;
