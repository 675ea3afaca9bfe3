-- Up Migration
-- Each claim asks what was called by hand in the last minutes: mostly nothing.
create index gateway_calls_by_time on tieout.gateway_calls (at);

-- Down Migration
drop index tieout.gateway_calls_by_time;
