-- Up Migration
-- Every code that the gateway ever used, one row a night: how often, for how much money, in which
-- orders, what it meant then and by which settings. A code without a meaning moves no money.
create table tieout.gateway_words (
  account_id text collate "C" not null,
  -- of entries: payment_status, query_result; of answers: capture_status, refund_message ...
  field text not null check (field in ('payment_status', 'query_result', 'capture_status',
    'cancel_status', 'review_status', 'refund_message')),
  word text collate "C" not null,
  run_id bigint not null references tieout.runs on delete cascade,
  -- null: none
  meaning text,
  -- of the gateway profile that gave it
  profile_sha256 text not null,
  entries bigint not null check (entries > 0),
  -- by currency
  money jsonb not null,
  -- order numbers
  samples text[] not null,
  seen_at timestamptz not null,
  primary key (account_id, field, word, run_id)
);
create index gateway_words_by_run on tieout.gateway_words (run_id);

-- Down Migration
drop table tieout.gateway_words;
