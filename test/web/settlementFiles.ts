// Files of an acquirer for the tests of the settlement pages, and the rows that a page answers with.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { packageRoot } from '../../src/database/statements.js';
import { importAndSettle } from '../../src/settlement/importAndSettle.js';
import { settlementRules } from '../../src/settlement/settlement.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';

export const MAP = join(packageRoot(), 'docs', 'maps', 'sandbox-settlement.yaml');
/** As long as a number may be, without a place to break it. */
export const LONG = `${'n'.repeat(100)}${'4'.repeat(28)}`;
export const MARKUP = '<img src=x onerror=alert(1)>';

const HEADER = 'Account,Batch,Line,Type,Booked,Order,Transaction,Reference,Currency,Amount,Fee,Net';

/** What the sandbox settles, as its acquirer would. */
export async function acquirersFile(console: ConsoleHouse): Promise<string> {
  const answer = await fetch(`${console.house.sandboxUrl}/_sandbox/settlement?until=${dateOf(0)}`);
  return answer.text();
}

/** A batch of orders with names that no page may stumble over, and one line without any. */
export function oddFile(): string {
  const lines = [
    ['1', 1, MARKUP, '10.00', '1.00', '9.00'] as const,
    ['2', 1, LONG, '10.00', '0.00', '10.00'] as const,
    ['3', 2, '', '5.00', '0.00', '5.00'] as const,
  ].map(([line, daysAgo, order, amount, fee, net]) =>
    [
      'A1001',
      LONG,
      line,
      'captured',
      `${dateOf(daysAgo)}T10:00:00Z`,
      order,
      '',
      '',
      'EUR',
      amount,
      fee,
      net,
    ].join(),
  );
  return [HEADER, ...lines, ''].join('\n');
}

/** Imports a file as the command does. */
export async function take(console: ConsoleHouse, name: string, text: string): Promise<void> {
  const { db, config } = console.app;
  const rules = settlementRules(config);
  if (rules === null) throw new Error('settlement is not kept');
  const path = join(console.house.folder, name);
  writeFileSync(path, text);
  const accountIds = config.accounts.map(({ accountId }) => accountId);
  const deps = { db, config, rules, accountIds, now: () => new Date() };
  const map = loadColumnMap(MAP, 'settlement');
  const result = await importAndSettle(deps, [path], { map, check: false });
  expect(result, JSON.stringify(result)).toMatchObject({ kind: 'imported', check: false });
}

/** A batch of one line that pays out what it brings. */
export function batchFile(batch: string, change: { account?: string; net?: string } = {}): string {
  const { account = 'A1001', net = '9.61' } = change;
  const at = `${dateOf(1)}T10:00:00Z`;
  return `${HEADER}\n${account},${batch},1,captured,${at},N1,,,EUR,10.00,0.39,${net}\n`;
}

/** The rows of the last table of a page, each with what stands in its cells. */
export async function lastRows(visitor: Visitor, path: string): Promise<string[][]> {
  const { body } = await visitor.get(path);
  const table = body.slice(body.lastIndexOf('<tbody>'), body.lastIndexOf('</tbody>'));
  return table
    .split('<tr')
    .slice(1)
    .map((row) =>
      [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/g)].map(([, cell = '']) =>
        cell.replace(/<[^>]*>/g, ''),
      ),
    );
}

/** Brings a file on the page of settlement, as a browser does. */
export async function bring(
  console: ConsoleHouse,
  visitor: Visitor,
  name: string,
  text: string,
  over: Record<string, string> = {},
) {
  const form = new FormData();
  const fields = { _csrf: await visitor.token(), map: '', ...over };
  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  form.set('upload', new File([text], name));
  const sent = new Response(form);
  return console.server.inject({
    method: 'POST',
    url: '/settlement/check',
    cookies: visitor.cookies,
    headers: { 'content-type': sent.headers.get('content-type') ?? '' },
    payload: Buffer.from(await sent.arrayBuffer()),
  });
}

/** The hidden fields of the second press. */
export function secondPress(body: string): Record<string, string> {
  const found = body.matchAll(/name="(sha256|map|seen)" value="([^"]+)"/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name, value]));
}
