// The words that people read: no page of the console and no sheet of a workbook says one that only
// who built tieout understands. Keys of files and names of commands keep theirs; they are not
// looked at here.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { pullBrake } from '../../src/brake/brake.js';
import { ROLES } from '../../src/core/access.js';
import { ROUTES } from '../../src/web/routes.js';
import { unzip } from '../reports/openXlsx.js';
import { dateOf } from '../support/night.js';
import type { ConsoleHouse } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

/** Each with what is said instead. */
const OLD: readonly [RegExp, string][] = [
  [/\b(?:as of|snapshot at)\b/i, 'checked at'],
  [/\b(?:brake|breaker)\b/i, 'sending is stopped for ...'],
  [/\bheld\b(?! by a setting)/i, 'waiting for approval, or held by a setting'],
  [/\bpolic(?:y|ies)\b/i, 'the settings'],
  [/\bstrangers?\b/i, 'not in the ledger'],
  [/\b(?:missing_|unknown_status|invalid_record)/, 'the words of labels.ts'],
];

let console: ConsoleHouse;

beforeAll(async () => {
  const operations = { capture: 'approve', cancel: 'auto', refund: 'approve', review: 'approve' };
  console = await openConsole({
    settings: { operations, settlement: { from: '2026-11-01' } },
    before: async (house) => {
      const order = { accountId: null, reason: 'look first', who: { name: 'kim', isClaim: true } };
      await pullBrake(house, order);
    },
  });
});
afterAll(() => console.end());

/** What of a text is an old word, each with what stands around it. */
function oldWords(where: string, text: string): string[] {
  return OLD.flatMap(([pattern, instead]) => {
    const at = text.search(pattern);
    return at === -1
      ? []
      : [`${where}: "${text.slice(Math.max(0, at - 30), at + 30)}": ${instead}`];
  });
}

/** What a person reads of a page, or has read aloud. */
function wordsOf(html: string): string {
  const said = [...html.matchAll(/(?:aria-label|title|placeholder|alt)="([^"]*)"/g)];
  const body = html.slice(html.indexOf('<body')).replaceAll(/<[^>]+>/g, ' ');
  return [body, ...said.map(([, words]) => words)].join(' ').replaceAll(/\s+/g, ' ');
}

test('no page says an old word', async () => {
  const { rows } = await console.app.db.query<Record<'breakId' | 'id' | 'order', string>>(
    `select break_id::text as "breakId", i.instruction_id::text as id, i.order_no as order
     from tieout.instructions i, tieout.breaks b
     where i.account_id = 'A1001' and b.account_id = 'A1001' and i.state = 'held'
     order by i.instruction_id, b.break_id limit 1`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('nothing waits');
  const visitor = await console.visitor(ROLES.map((role) => ({ role, accountId: null })));
  const found: string[] = [];
  let pages = 0;
  let isTold = false;
  for (const { method, path } of ROUTES) {
    if (method !== 'GET') continue;
    const id = path.startsWith('/instructions') ? row.id : row.breakId;
    const url = path
      .replace(':date', dateOf(1))
      .replace(':account', 'A1001')
      .replace(':orderNo', encodeURIComponent(row.order))
      .replace(':id', id);
    const { headers, body, statusCode } = await visitor.get(url);
    if (!String(headers['content-type']).startsWith('text/html')) continue;
    if (statusCode === 200) pages += 1;
    const words = wordsOf(body);
    isTold ||= words.includes('A1001: sending is stopped for all accounts since');
    found.push(...oldWords(url, words));
  }
  expect(pages).toBeGreaterThan(25);
  expect(isTold).toBe(true);
  expect(found).toEqual([]);
});

test('no sheet says an old word', async () => {
  const { rows } = await console.app.db.query<{ path: string }>(
    `select path from tieout.reports where state = 'written' and path like '%.xlsx'`,
  );
  expect(rows.length).toBeGreaterThan(0);
  const found: string[] = [];
  let cells = 0;
  let isTold = false;
  for (const { path } of rows) {
    for (const [name, xml] of await unzip(path)) {
      for (const [, cell, said] of xml.matchAll(
        /<v>([^<]*)<\/v>| (?:name|prompt|error)="([^"]*)"/g,
      )) {
        cells += 1;
        isTold ||= cell?.includes('sending is stopped for all accounts since') === true;
        found.push(...oldWords(name, cell ?? said ?? ''));
      }
    }
  }
  expect(cells).toBeGreaterThan(500);
  expect(isTold).toBe(true);
  expect([...new Set(found)]).toEqual([]);
});
