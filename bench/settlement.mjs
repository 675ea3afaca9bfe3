// `npm run bench -- --part settlement`: lines of the acquirer find their movements, beside the bare
// merge join of the same rows that writes its pairs into a table with a key, and beside a script
// with a Map that does. Then what a night and a page ask when nothing is new; and the import of the
// lines beside parsing the CSV and COPYing it bare. `--orders` is the number of movements and lines.
// DuckDB is not among its sides: its npm package is no part of the project (engines.mjs uses it
// where it is found). Neighbours: settlementRows.mjs, house.mjs.

import { createReadStream, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse';
import { loadColumnMap } from '../dist/src/config/mapFile.js';
import { openDatabase } from '../dist/src/database/db.js';
import { rolledBack } from '../dist/src/database/rolledBack.js';
import { sandboxProfile } from '../dist/src/gateway/document/profile.js';
import { takeSettlement } from '../dist/src/ledger/settlement/importSettlement.js';
import { settleAccounts, settledAccounts } from '../dist/src/settlement/settlement.js';
import {
  feeFigures,
  matchLines,
  oldestOpen,
  settlementFigures,
} from '../dist/src/settlement/settlementStore.js';
import { measured } from './setsTurns.mjs';
import { ACCOUNT, COLUMNS, FROM, putRows, writeFile } from './settlementRows.mjs';
import { inTurns, line, ratiosOf } from './stats.mjs';

const times = { from: FROM, cutOff: '00:00', timezone: 'UTC' };
const TARIFF = {
  ...{ account_id: ACCOUNT, type: 'captured', parts_per_million: '14000' },
  ...{ fixed: { EUR: '0.25' }, from: FROM, until: null, tolerance: '0.01' },
};
const RULES = {
  settings: { from: FROM, settleDays: 5, holidays: [] },
  times,
  fees: { tariff: [TARIFF], coarse: {} },
};
const SCALE = 1_000;

export async function benchSettlement(place, count, rounds) {
  const db = openDatabase(place.connection);
  try {
    await putRows(db, count);
    await db.query(`create schema bare`);
    await db.query(`create table bare.pairs (settlement_line_id bigint primary key,
      movement_id bigint not null, differs boolean not null)`);
    return [
      ...(await matchingLines(db, rounds)),
      ...(await quietLines(db, rounds)),
      ...(await importLines({ db, place }, count, rounds)),
    ];
  } finally {
    await db.close();
  }
}

/** Every side in a transaction that does not stay, on tables without dead rows. */
async function undone(db, work) {
  await db.query('vacuum tieout.settlement_unmatched, tieout.settlement_awaited');
  await db.query('vacuum tieout.settlement_matches, bare.pairs');
  return rolledBack(db, (tx) => measured(tx, () => work(tx)));
}

async function matchingLines(db, rounds) {
  const found = await inTurns(rounds, {
    merge: () => undone(db, matchByMerge),
    map: () => undone(db, matchByMap),
    ours: () => undone(db, async (tx) => matchLines(tx, await accountsOf(tx), times)),
    whole: () => undone(db, (tx) => settleAll(tx)),
  });
  const { merge, map, ours, whole } = found;
  return [
    ...bothWays('matching, of the bare merge join', ours, merge, { atMost: 2.5 }),
    line('matching, times faster than a script with a Map', ratiosOf(map, ours, 'wall')),
    line(
      'matching with differences and breaks, of the bare merge join',
      ratiosOf(whole, merge, 'wall'),
    ),
    line(
      'matching, s',
      ours.map((one) => one.wall / SCALE),
    ),
  ];
}

function accountsOf(tx) {
  return settledAccounts(tx, RULES, [ACCOUNT], null);
}

/** By the clock, and by the processor time of both ends, which other work disturbs less. */
function bothWays(name, left, right, goal) {
  return [
    line(name, ratiosOf(left, right, 'wall'), goal),
    line(`${name}, by processor time`, ratiosOf(left, right, 'busy')),
  ];
}

/** The least that a database can do: no second look, no way but one, nobody knows what waits. */
async function matchByMerge(tx) {
  await tx.query('set local enable_hashjoin = off');
  await tx.query(
    `insert into bare.pairs
     select l.settlement_line_id, m.movement_id, abs(l.amount) <> m.amount
     from tieout.settlement_lines l
     join tieout.movements m on m.account_id = l.account_id
       and m.transaction_id = l.transaction_id and m.kind = l.type
     where l.account_id = $1`,
    [ACCOUNT],
  );
}

async function matchByMap(tx) {
  const { rows: movements } = await tx.query(
    'select movement_id, transaction_id, kind, amount from tieout.movements where account_id = $1',
    [ACCOUNT],
  );
  const known = new Map(movements.map((one) => [`${one.kind}|${one.transaction_id}`, one]));
  const { rows: lines } = await tx.query(
    `select settlement_line_id, transaction_id, type, abs(amount) as amount
     from tieout.settlement_lines where account_id = $1`,
    [ACCOUNT],
  );
  function* texts() {
    for (const one of lines) {
      const movement = known.get(`${one.type}|${one.transaction_id}`);
      if (movement === undefined) continue;
      const differs = movement.amount === one.amount ? 'f' : 't';
      yield `${one.settlement_line_id}\t${movement.movement_id}\t${differs}\n`;
    }
  }
  await tx.copy('copy bare.pairs from stdin', texts());
}

function settleAll(db) {
  return settleAccounts(db, RULES, [ACCOUNT], { now: new Date(), runId: null });
}

/** What is matched stays: the same again, as each night and each look at the page ask it. */
async function quietLines(db, rounds) {
  await settleAll(db);
  await db.query('vacuum analyze');
  const accounts = await accountsOf(db);
  const { again, figures, fees } = await inTurns(rounds, {
    again: () => measured(db, () => settleAll(db)),
    figures: () =>
      measured(db, async () => {
        await settlementFigures(db, accounts, times);
        await oldestOpen(db, accounts);
      }),
    fees: () => measured(db, () => feeFigures(db, [ACCOUNT], null, times, RULES.fees)),
  });
  const seconds = (found) => found.map((one) => one.wall / SCALE);
  return [
    line('a night without a new line, s', seconds(again)),
    line('the figures of `tieout settlement`, s', seconds(figures)),
    line('the fees of all time, s', seconds(fees)),
  ];
}

// What was recorded is never emptied, save by whoever owns the server.
const EMPTIED = `set session_replication_role = replica;
  truncate tieout.settlement_files, tieout.settlement_batches, tieout.settlement_lines,
    tieout.settlement_looks, tieout.settlement_unmatched;
  set session_replication_role = origin`;

async function importLines({ db, place }, count, rounds) {
  const file = join(place.folder, 'settlement.csv');
  const mapFile = join(place.folder, 'map.yaml');
  await writeFile(file, count);
  const columns = Object.fromEntries(COLUMNS.map((name) => [name, { from: name }]));
  writeFileSync(mapFile, JSON.stringify({ table: 'settlement', columns }));
  const map = loadColumnMap(mapFile, 'settlement');
  await db.query(`create table bare.lines (${COLUMNS.map((name) => `${name} text`).join(', ')})`);
  await db.query(EMPTIED);
  // An import seals what it takes with all that waits for it; what a night brought, the night seals.
  await db.query('select tieout.seal($1, current_date)', [ACCOUNT]);
  const deps = { db, profile: sandboxProfile(), accounts: [{ accountId: ACCOUNT }], since: times };
  const take = (tx) => takeSettlement(deps, tx, [file], { map, check: false });
  // What was taken once is found by its batch and its transaction, or its order, for as long as it
  // is kept: the same keys, of the same types.
  await db.query(
    `create table bare.keyed as select ${COLUMNS.join(', ')} from tieout.settlement_lines limit 0;
     alter table bare.keyed add settlement_line_id bigint generated always as identity,
       add primary key (settlement_line_id);
     create index on bare.keyed (account_id, batch);
     create index on bare.keyed (order_no, account_id)
       where transaction_id is null or type <> 'captured';
     create index on bare.keyed (transaction_id, account_id)`,
  );
  const { bare, keyed, ours } = await inTurns(rounds, {
    bare: () => rolledBack(db, (tx) => measured(tx, () => copyBare(tx, file, 'bare.lines'))),
    keyed: () => rolledBack(db, (tx) => measured(tx, () => copyBare(tx, file, 'bare.keyed'))),
    ours: () => rolledBack(db, (tx) => measured(tx, () => take(tx))),
  });
  const megabytes = statSync(file).size / 2 ** 20;
  rmSync(file);
  return [
    ...bothWays('import, of the speed of parsing and COPYing bare', bare, ours, { atLeast: 0.5 }),
    ...bothWays('import, of parsing and COPYing into a table of the same keys', keyed, ours),
    line(
      'import, MB a second',
      ours.map((one) => megabytes / (one.wall / SCALE)),
      {},
      1,
    ),
  ];
}

/** Parsed and copied as it is: nothing is checked, no batch is told from another. */
async function copyBare(tx, file, table) {
  const records = createReadStream(file).pipe(parse({ from_line: 2 }));
  async function* texts() {
    for await (const record of records) yield `${record.join('\t')}\n`;
  }
  await tx.copy(`copy ${table} (${COLUMNS.join(', ')}) from stdin`, texts());
}
