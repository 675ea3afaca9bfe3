// What a night and its console leave behind beside the tables of tieout: rows of the queue, files on
// the disk with workbooks unpacked; and how much memory a download takes on its way.

import { lstatSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainly } from '../reports/plainReader.js';
import type { House } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';

/** Whatever the queue keeps, as text: its tables are not ours. */
export async function queueRows({ db }: House): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in
       ('pg_catalog', 'information_schema', 'tieout', 'tieout_meta', 'ledger')`,
  );
  if (rows.length === 0) throw new Error('the queue has no tables');
  const all = await Promise.all(
    rows.map(({ name }) => db.query<{ row: string }>(`select t::text as row from ${name} t`)),
  );
  return all.flatMap((one) => one.rows.map(({ row }) => row));
}

/** Every file but the configuration itself. */
export async function everyFile({ folder, file }: House): Promise<string[]> {
  const texts: string[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (path === file || !lstatSync(path).isFile()) continue;
    if (!name.endsWith('.xlsx')) texts.push(readFileSync(path, 'latin1'));
    else texts.push(...(await readPlainly(path)).parts.values());
  }
  return texts;
}

/** Downloads a report of that size; answers what came and by how much the memory grew meanwhile. */
export async function download(
  { app, server }: ConsoleHouse,
  visitor: Visitor,
  bytes: number,
): Promise<{ taken: number; grown: number }> {
  const path = join(app.config.reports.dir, 'large.xlsx');
  writeFileSync(path, '');
  truncateSync(path, bytes);
  const { rows } = await app.db.query<{ id: bigint }>(
    `insert into tieout.reports (run_id, kind, format, revision, state, created_at, written_at,
       path, sha256, bytes)
     select run_id, 'orders', 'xlsx', 900, 'written', now(), now(), $1, 'y', $2
     from tieout.runs limit 1 returning report_id as id`,
    [path, bytes],
  );
  const base = await server.listen({ host: '127.0.0.1', port: 0 });
  const cookie = `tieout-session=${visitor.cookies['tieout-session']}`;
  const before = process.memoryUsage().rss;
  const answer = await fetch(`${base}/reports/${rows[0]?.id}/file`, { headers: { cookie } });
  let [taken, grown] = [0, 0];
  for await (const chunk of answer.body ?? []) {
    taken += chunk.length;
    grown = Math.max(grown, process.memoryUsage().rss - before);
  }
  return { taken, grown };
}
