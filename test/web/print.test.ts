// Lists of the console on paper: the heads of their columns stand on each page. Skipped by name
// where there is no chromium.

import { inflateSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, launch, openTab } from '../support/chromium.js';
import type { ConsoleHouse } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

/** What is drawn on each page of a PDF, as its operators. */
function drawnPages(pdf: Buffer): string[] {
  const objects = new Map<string, string>();
  const text = pdf.toString('latin1');
  for (const [, id = '', body = ''] of text.matchAll(/(\d+) 0 obj\n(.*?)\nendobj/gs)) {
    objects.set(id, body);
  }
  return [...objects.values()]
    .filter((body) => /\/Type\s*\/Page\b/.test(body))
    .map((body) => {
      const [, id = ''] = /\/Contents (\d+) 0 R/.exec(body) ?? [];
      const [, stream = ''] = /stream\n(.*)\nendstream/s.exec(objects.get(id) ?? '') ?? [];
      return inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
    });
}

describe.skipIf(CHROMIUM === null)('a printed list', () => {
  let place: ConsoleHouse;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    place = await openConsole({ orders: 600, settings: { operations: { capture: 'approve' } } });
    await place.app.db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint, currency, amount)
       select b.account_id, 'PRINT-' || n, 'missing_in_ledger', 'open', now(), first_run_id,
         last_run_id, '{}', '{"state": "captured", "amount": "1000.00", "currency": "JPY"}', '',
         'JPY', 1000
       from (select * from tieout.breaks limit 1) b, generate_series(1, 45) n`,
    );
    base = await place.server.listen({ host: '127.0.0.1', port: 0 });
    browser = await launch();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await place?.end();
  });

  it.each([
    ['/breaks?text=PRINT-', 3],
    ['/approvals', 2],
  ])('%s has its heads on every page that has rows', async (path, least) => {
    const visitor = await place.withRole('viewer');
    const session = visitor.cookies['tieout-session'] ?? '';
    const { page, context } = await openTab(browser, { base, session });
    await page.goto(path);
    // Heads and rows are given away by colours that nothing else has.
    await page.evaluate(`
      for (const one of document.querySelectorAll('main thead th'))
        one.style.setProperty('background', 'rgb(255, 0, 0)', 'important');
      for (const one of document.querySelectorAll('main tbody tr > :first-child'))
        one.style.setProperty('background', 'rgb(0, 255, 0)', 'important');
    `);
    const pages = drawnPages(await page.pdf({ format: 'A4', printBackground: true }));
    const withRows = pages.filter((drawn) => /\b0 1 0 rg\b/.test(drawn));
    expect(withRows.length).toBeGreaterThanOrEqual(least);
    expect(withRows.map((drawn) => /\b1 0 0 rg\b/.test(drawn))).toEqual(withRows.map(() => true));
    await context.close();
  });
});
