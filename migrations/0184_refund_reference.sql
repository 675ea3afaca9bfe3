-- Up Migration
-- What the gateway calls a refund beside its refund_reference_id, for whoever looks it up there.
alter table tieout.instructions add column refund_reference text;

-- Down Migration
alter table tieout.instructions drop column refund_reference;
