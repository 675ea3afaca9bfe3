// What the ledger asked for, and which payments were disputed, and from when on: kept by triggers of
// the schedules' own databases, so that the auditor can say whether a refund was asked for when it
// was claimed, and whether it was disputed then, whatever became of the rows since.

/** What was asked for of an order, from when on; by order, oldest first. */
export async function readAsked(db) {
  const { rows } = await db.query(
    `select account_id, order_no, extract(epoch from at)::float8 as at,
       (coalesce(wanted, 0) * 100)::bigint::text as sum from sim.wanted order by seq`,
  );
  const asked = new Map();
  for (const { account_id, order_no, at, sum } of rows) {
    const key = `${account_id} ${order_no}`;
    const known = asked.get(key) ?? [];
    // What it was first it was from the beginning, whichever clock was on the wall then.
    const from = known.length === 0 ? Number.NEGATIVE_INFINITY : at;
    asked.set(key, [...known, { at: from, sum: BigInt(sum) }]);
  }
  return asked;
}

/** Each change of a dispute, oldest first; without a stage: its row was gone. */
export async function readDisputed(db) {
  const { rows } = await db.query(
    `select account_id, dispute_id, order_no, transaction_id, stage,
       extract(epoch from at)::float8 as at from sim.disputed order by seq`,
  );
  return rows;
}

/** Those of tables that may be dropped and made again. */
export const ASKED_TRIGGERS = `
  create trigger asked after insert or update or delete on ledger.refund_requests
    for each row execute function sim.asked_changed();
  create trigger disputed after insert or update on ledger.disputes
    for each row execute function sim.dispute_changed();
  create trigger charged after insert on tieout.settlement_lines
    for each row execute function sim.charge_came();
`;

/** Tables and triggers of the schedules' own, beside the ledger; made once in the template. */
export const ASKED = `
  create table sim.wanted (seq bigint generated always as identity, at timestamptz not null,
    account_id text not null, order_no text not null, wanted numeric);
  create function sim.note_asked(account text, no text) returns void language sql as
    'insert into sim.wanted (at, account_id, order_no, wanted)
     select clock_timestamp(), account, no, (select sum(refund_amount) from ledger.refund_requests
       where account_id = account and order_no = no
         -- What no amount can be asks for nothing.
         and refund_amount > 0 and refund_amount < 1e15)
     where account is not null and no is not null';
  create function sim.asked_changed() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' then perform sim.note_asked(old.account_id, old.order_no); end if;
    if tg_op <> 'DELETE' then perform sim.note_asked(new.account_id, new.order_no); end if;
    return null;
  end $$;
  create table sim.disputed (seq bigint generated always as identity, at timestamptz not null,
    account_id text, dispute_id text, order_no text, transaction_id text, stage text);
  create function sim.dispute_changed() returns trigger language plpgsql as $$
  begin
    insert into sim.disputed (at, account_id, dispute_id, order_no, transaction_id, stage)
    values (clock_timestamp(), new.account_id, new.dispute_id, new.order_no, new.transaction_id,
      new.stage);
    return null;
  end $$;
  -- A chargeback that was not reversed is one more of the order's disputes.
  create function sim.charged_back(account text, no text) returns text language sql as
    'select case when count(*) filter (where type = ''chargeback'')
        > count(*) filter (where type = ''chargeback_reversed'') then ''lost'' else ''won'' end
     from tieout.settlement_lines where account_id = account and order_no = no';
  create function sim.charge_came() returns trigger language plpgsql as $$
  begin
    insert into sim.disputed (at, account_id, dispute_id, order_no, transaction_id, stage)
    values (clock_timestamp(), new.account_id, 'charge-' || new.order_no, new.order_no,
      new.transaction_id, sim.charged_back(new.account_id, new.order_no));
    return null;
  end $$;
  -- Of a ledger that was put back, whose triggers were silent.
  create function sim.note_disputes() returns void language sql as
    'insert into sim.disputed (at, account_id, dispute_id, order_no, transaction_id, stage)
     select clock_timestamp(), known.account_id, known.dispute_id, known.order_no,
       known.transaction_id, case when known.dispute_id like ''charge-%''
         then sim.charged_back(known.account_id, known.order_no) else d.stage end
     from (select distinct on (account_id, dispute_id) * from sim.disputed
       order by account_id, dispute_id, seq desc) known
     left join ledger.disputes d using (account_id, dispute_id)
     where case when known.dispute_id like ''charge-%''
         then sim.charged_back(known.account_id, known.order_no) else d.stage end
       is distinct from known.stage';
${ASKED_TRIGGERS}`;
