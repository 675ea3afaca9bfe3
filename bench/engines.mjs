// `npm run bench -- --part engines`: comparing inside PostgreSQL, with verdicts and breaks, beside
// taking both sides out by COPY, joining them in DuckDB or pandas and bringing back what differs.
// Neither is a part of the project: DuckDB is used where it is found (`npm install --no-save
// @duckdb/node-api`, or a folder named by --libraries), pandas where Debian's python3-pandas is
// installed; what is not there is named and left out. Neighbours: sets.mjs, bareCompare.mjs.

import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, mkdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { BARE_TABLE } from './bareCompare.mjs';
import { compareAll, withSnapshot } from './sets.mjs';
import { written } from './setsTurns.mjs';
import { line, ratiosOf, timed } from './stats.mjs';

const PANDAS = fileURLToPath(new URL('enginePandas.py', import.meta.url));
/** The distribution's own Python first: packages of Debian are not seen by another one. */
const PYTHONS = ['/usr/bin/python3', 'python3'];
const DUCKDB = '@duckdb/node-api';

const LEDGER = `select account_id, order_no, currency, amount, expected from tieout.asked_orders
  where pull_id = $1`;
const SHOWN = `select account_id, order_no, transaction_id, currency, amount, state, payment_status
  from tieout.look_entries where pull_id = $1 and not is_extra`;

/** Amounts of eighteen digits: those of twenty would be computed with far wider numbers. */
const JOIN = `
  copy (
    select coalesce(l.account_id, g.account_id), coalesce(l.order_no, g.order_no),
      case when g.order_no is null then 'missing_at_gateway'
        when l.order_no is null then 'missing_in_ledger'
        when l.currency <> g.currency then 'currency' when l.amount <> g.amount then 'amount'
        else 'state' end,
      l.expected, l.currency, l.amount, g.transaction_id, g.state, g.currency, g.amount,
      g.payment_status
    from read_csv('LEDGER', header = true, columns = {'account_id': 'VARCHAR',
        'order_no': 'VARCHAR', 'currency': 'VARCHAR', 'amount': 'DECIMAL(18,2)',
        'expected': 'VARCHAR'}) l
    full join read_csv('SHOWN', header = true, columns = {'account_id': 'VARCHAR',
        'order_no': 'VARCHAR', 'transaction_id': 'VARCHAR', 'currency': 'VARCHAR',
        'amount': 'DECIMAL(18,2)', 'state': 'VARCHAR', 'payment_status': 'VARCHAR'}) g
      using (account_id, order_no)
    where l.order_no is null or g.order_no is null or l.amount <> g.amount
      or l.currency <> g.currency or l.expected <> g.state
  ) to 'FOUND' (header false)`;

export function benchEngines(place, rounds, libraries) {
  return withSnapshot(place, rounds, async (bench, pull) => {
    await bench.db.query(BARE_TABLE);
    const engines = [
      { name: 'DuckDB', join: await duckDb(libraries), needs: DUCKDB },
      { name: 'pandas', join: pandas(), needs: 'python3-pandas' },
    ];
    const lines = [];
    for (const { name, join: joined, needs } of engines) {
      if (joined === null) process.stdout.write(`  ${needs} is not installed: left out\n`);
      else lines.push(...(await engineLines(bench, pull, name, joined)));
    }
    return lines;
  });
}

async function engineLines(bench, pull, name, joined) {
  const [engine, tieout] = [[], []];
  // A first round in which both sides find their pages in memory, and is not counted.
  for (let round = 0; round <= bench.rounds; round += 1) {
    engine.push(await outAndBack(bench, pull, joined));
    tieout.push(await written(bench.db, (db) => compareAll(bench, db, pull)));
  }
  const [left, right] = [engine.slice(1), tieout.slice(1)];
  return [
    line(`compare: times faster than ${name}, out and back`, ratiosOf(left, right, 'wall')),
    line(
      `compare: times faster than ${name}, its join alone`,
      left.map(({ join: alone }, round) => alone / right[round].wall),
    ),
  ];
}

/** Both sides out of the database, joined, and what differs back into a table with a key. */
async function outAndBack({ place }, { pullId }, joined) {
  const folder = join(place.folder, 'engine');
  mkdirSync(folder);
  const files = ['ledger.csv', 'shown.csv', 'found.csv'].map((name) => join(folder, name));
  const clients = [0, 1].map(() => new pg.Client({ ...place.connection, ssl: false }));
  await Promise.all(clients.map((client) => client.connect()));
  try {
    const out = await timed(() =>
      Promise.all([LEDGER, SHOWN].map((sql, at) => unload(clients[at], sql, pullId, files[at]))),
    );
    const took = await joined(...files);
    if (statSync(files[2]).size === 0) throw new Error('the engine found no difference');
    await clients[0].query('truncate bare.verdicts');
    const back = await timed(() =>
      pipeline(
        createReadStream(files[2]),
        clients[0].query(from('copy bare.verdicts from stdin (format csv)')),
      ),
    );
    return { wall: out.wall + took + back.wall, join: took };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    rmSync(folder, { recursive: true, force: true });
  }
}

function unload(client, sql, pullId, file) {
  const copy = `copy (${sql.replaceAll('$1', String(pullId))}) to stdout (format csv, header)`;
  return pipeline(client.query(to(copy)), createWriteStream(file));
}

/** Answers the time of the join alone; null where the library is not found. */
async function duckDb(libraries) {
  const found = await imported(DUCKDB, libraries);
  if (found === null) return null;
  const instance = await found.DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  return async (ledger, shown, differences) => {
    const sql = JOIN.replace('LEDGER', ledger).replace('SHOWN', shown);
    return (await timed(() => connection.run(sql.replace('FOUND', differences)))).wall;
  };
}

async function imported(name, libraries) {
  try {
    if (libraries === undefined) return await import(name);
    const path = createRequire(join(resolve(libraries), 'from.js')).resolve(name);
    return await import(pathToFileURL(path).href);
  } catch {
    return null;
  }
}

function pandas() {
  const python = PYTHONS.find(hasPandas);
  if (python === undefined) return null;
  return (...files) => {
    const out = execFileSync(python, [PANDAS, ...files], { encoding: 'utf8' });
    return JSON.parse(out).wall;
  };
}

function hasPandas(python) {
  try {
    execFileSync(python, ['-c', 'import pandas'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
