// Every page in a real Chromium, of a desk, a small window and a telephone, in light and dark: nothing
// keeps anybody from using it, nothing is cut or runs over an edge, also with order numbers as long
// as they may be. Each is loaded once and made narrower.

import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countBreaks } from '../../src/breaks/breaksStore.js';
import { AGES } from '../../src/core/breaks/breakAge.js';
import { moneyIn } from '../../src/core/text/amounts.js';
import { ROUTES } from '../../src/web/routes.js';
import type { Tab } from '../support/chromium.js';
import {
  CHROMIUM,
  figuresAt,
  findings,
  headAfterScroll,
  launch,
  openTab,
  tableRoles,
} from '../support/chromium.js';
import { dateOf } from '../support/night.js';
import { edited, fill } from '../support/workbookEdits.js';
import type { ConsoleHouse } from './consoleHouse.js';
import { ACCOUNT, LONG, longNumberHouse, MISSING } from './longNumberHouse.js';

const PAGE_BYTES_MAX = 100_000;
/** Half a minute of work where a machine is at rest. */
const SLOWLY_MS = 600_000;
const NIGHT = dateOf(1);

/** Each way in which a form of the page can be sent, and what it would bring. */
const FORMS = `[...document.querySelectorAll('form[method=post]')].flatMap((form) => {
  const fields = [...form.elements].filter((one) => one.name !== '' && one.type !== 'submit');
  const pressed = [...form.elements].filter((one) => one.type === 'submit');
  return pressed.map((one) => ({
    goesTo: new URL(one.getAttribute('formaction') ?? form.getAttribute('action'), location).pathname,
    names: [...new Set([...fields.map(({ name }) => name), one.name])].filter((name) => name !== ''),
  }));
})`;
/** Of the door, which has no rights to ask for. */
const DOOR = /^\/(sign-in|sign-out|password|confirm|welcome\/[\w-]+)$/;
const isAt = (path: string, address: string): boolean =>
  new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`).test(address);

interface Drawn {
  age: string;
  amount: string;
  /** of its currency, as its chart says it */
  all: string;
  bar: { left: number; width: number };
  /** of the longest bar */
  room: number;
}

describe.skipIf(CHROMIUM === null)('every page', () => {
  let console: ConsoleHouse;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  const found = { light: [] as string[], dark: [] as string[], forms: [] as string[] };
  let formsSeen = 0;

  beforeAll(async () => {
    console = await longNumberHouse();
    const base = await console.server.listen({ host: '127.0.0.1', port: 0 });
    browser = await launch();
    const roles = ['finance', 'operator', 'approver', 'admin'] as const;
    const visitor = await console.visitor(roles.map((role) => ({ role, accountId: null })));
    tab = await openTab(browser, { base, session: visitor.cookies['tieout-session'] ?? '' });
    ({ page } = tab);
    page.setDefaultTimeout(60_000);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await console?.end();
  });

  /** Forms that would be refused: they go nowhere, or hold a field that their route does not know. */
  async function strangeForms(): Promise<string[]> {
    const forms = await page.evaluate<{ goesTo: string; names: string[] }[]>(FORMS);
    formsSeen += forms.length;
    return forms.flatMap(({ goesTo, names }) => {
      const route = ROUTES.find(({ method, path }) => method === 'POST' && isAt(path, goesTo));
      if (route === undefined) return DOOR.test(goesTo) ? [] : [`a form to ${goesTo}`];
      const known = [
        '_csrf',
        ...(route.fields ?? []),
        ...(route.takesFile === true ? ['file'] : []),
      ];
      return names
        .filter((field) => !known.includes(field))
        .map((field) => `the field ${field} of a form to ${goesTo}`);
    });
  }

  /** What is wrong with the page that is open. */
  async function look(name: string): Promise<void> {
    found.forms.push(...(await strangeForms()).map((one) => `${name}: ${one}`));
    const { light, dark } = await findings(page);
    found.light.push(...light.map((one) => `${name} ${one}`));
    found.dark.push(...dark.map((one) => `${name} ${one}`));
  }

  async function lookAt(path: string): Promise<void> {
    const answer = await page.goto(path);
    expect([path, answer?.status()]).toEqual([path, path === '/nowhere' ? 404 : 200]);
    const bytes = (await answer?.body())?.length ?? 0;
    if (bytes >= PAGE_BYTES_MAX) found.light.push(`${path} has ${bytes} bytes`);
    await look(path);
  }

  /** Of that page, where the first link leads whose address begins so. */
  async function linkOn(path: string, begin: string): Promise<string> {
    await page.goto(path);
    return (await page.locator(`a[href^="${begin}"]`).first().getAttribute('href')) ?? '';
  }

  async function paths(): Promise<string[]> {
    const { rows } = await console.app.db.query<{ b: bigint; i: bigint; held: bigint; u: bigint }>(
      `select (select min(break_id) from tieout.breaks) as b,
         (select min(instruction_id) from tieout.instructions) as i,
         (select instruction_id from tieout.instructions where order_no = $1) as held,
         (select min(instruction_id) from tieout.instructions where state = 'unknown') as u`,
      [LONG],
    );
    const [row] = rows;
    const set = '/instructions/all';
    return [
      ...['/', '/breaks', '/breaks?state=any', `/breaks/${row?.b}`, '/approvals', '/instructions'],
      ...[`/instructions/${row?.i}`, `/instructions/${row?.held}`, `/instructions/${row?.u}`],
      ...[`/orders/${ACCOUNT}/${LONG}`, `/search?q=${LONG}`, '/search?q=SO', '/search?q=none'],
      ...[`/nights/${NIGHT}`, `/nights/${NIGHT}/changes`, `/nights/${NIGHT}/statement`],
      ...[`/days/${ACCOUNT}/${NIGHT}`, '/days', '/days/all/close', '/days/all/lock'],
      ...['/authorisations?show=all', '/breaks/causes', '/breaks?text=yyyyyyyy'],
      ...['/breaks/all/waive?text=yyyyyyyy', '/breaks/all/waive?state=waiver_asked'],
      ...['/breaks/all/assign?whom=-', '/jobs', '/activity', '/audit', '/settings', '/brake'],
      ...['/reports', '/nowhere', '/confirm', '/password'],
      await linkOn(`/nights/${NIGHT}/statement`, `/nights/${NIGHT}/statement/lines`),
      await linkOn('/approvals', `${set}/approve`),
      await linkOn('/approvals', `${set}/reject`),
      await linkOn('/instructions?state=unknown', `${set}/resolve`),
    ];
  }

  const tickAll = async (): Promise<void> => {
    for (const box of await page.locator('tbody').getByRole('checkbox').all()) await box.check();
  };
  const press = (name: string): Promise<void> =>
    page.locator('main').getByRole('button', { name }).click();
  const headed = (name: string): Promise<void> =>
    page.getByRole('heading', { level: 1, name }).waitFor();

  /** What stands there after a press: previews of what is ticked, and what was done. */
  async function lookAtPresses(): Promise<void> {
    await page.goto('/breaks');
    await tickAll();
    await page.getByLabel('Reason', { exact: true }).fill('agreed');
    await press('Waive');
    await headed('Waive what was picked');
    await look('waive ticked');
    await press('Waive');
    await headed('What was done');
    await look('waived');
    await lookAt('/breaks/all/reopen?state=waived');
    await page.goto('/breaks?state=waived');
    await tickAll();
    await page.getByLabel('Reason', { exact: true }).fill('not agreed');
    await press('Reopen');
    await headed('Reopen what was picked');
    await look('reopen ticked');
    await press('Reopen');
    await headed('What was done');
    await page.goto('/approvals');
    await tickAll();
    await page.getByLabel('Reason', { exact: false }).last().fill('no');
    await press('Reject what is picked');
    await headed('Reject what was picked');
    await look('reject ticked');
    const { rows } = await console.app.db.query<{ id: string }>(
      `select instruction_id::text as id from tieout.instructions
       where state = 'held' and order_no <> $1 order by instruction_id limit 1`,
      [LONG],
    );
    await page.goto(`/instructions/${rows[0]?.id}`);
    await press('Approve');
    await headed('What was done');
    expect(await page.locator('main').innerText()).toContain('1 of 1 done');
    await page.goto('/approvals');
    await tickAll();
    await press('Approve what is picked');
    await headed('Approve what was picked');
    await look('approve ticked');
    await press('Approve');
    await headed('What was done');
    expect(await page.locator('main').innerText()).toContain(LONG);
    await look('approved');
  }

  async function lookAtDecisions(): Promise<void> {
    const { rows } = await console.app.db.query<{ path: string; held: string; missing: string }>(
      `select path, (select instruction_id::text from tieout.instructions where order_no = $1)
           as held,
         (select min(break_id)::text from tieout.breaks where order_no = $2) as missing
       from tieout.reports where kind = 'reconciliation' and state = 'written'
       order by report_id desc limit 1`,
      [LONG, MISSING],
    );
    const { path = '', held = '', missing = '' } = rows[0] ?? {};
    const back = join(console.house.folder, 'back.xlsx');
    await edited(path, back, (parts) => {
      fill(parts, 'Waiting for you', held, { decision: 'approve' });
      fill(parts, 'Breaks', missing, { decision: 'note', reason: 'Z'.repeat(128) });
    });
    await page.goto('/reports');
    await page.locator('input[type=file]').setInputFiles(back);
    await press('Look at its decisions');
    await headed('Decisions in back.xlsx');
    expect(await page.locator('main').innerText()).toContain(LONG);
    await look('decisions of a workbook');
  }

  async function lookAtDoor(): Promise<void> {
    await page.goto('/settings');
    await page.locator('input[name=name]').fill('clara');
    await press('Invite');
    const link = /\/welcome\/[\w-]+/.exec(await page.locator('main').innerText())?.[0] ?? '';
    await look('invited');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await look('/sign-in');
    await page.goto(link);
    expect(await page.locator('main').innerText()).toContain('clara');
    await look('/welcome');
  }

  it('stays at the top with its heads where its rows are scrolled', async () => {
    await page.goto('/breaks');
    expect([await headAfterScroll(page, 1440), await headAfterScroll(page, 1024)]).toEqual([0, 0]);
    await page.goto('/approvals');
    expect([await headAfterScroll(page, 1440), await headAfterScroll(page, 1024)]).toEqual([0, 0]);
  });

  it('is the same table to who hears it, in every width', async () => {
    for (const path of ['/breaks', '/approvals', `/nights/${NIGHT}/changes`]) {
      await page.goto(path);
      const told: Record<string, number>[] = [];
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 800 });
        told.push(await tableRoles(page));
        expect(await page.locator('tbody td:not([role=cell])').count()).toBe(0);
      }
      expect(told[0]?.columnheader).toBeGreaterThan(5);
      expect([path, told[1], told[2]]).toEqual([path, told[0], told[0]]);
    }
  });

  it('has rows of figures and not of words at 1024', async () => {
    for (const path of ['/days', '/breaks?text=yyyyyyyy']) {
      await page.goto(path);
      expect([path, ...(await figuresAt(page, 1024))]).toEqual([path, 'table-row', 'right']);
    }
  });

  it('leaves a caption the whole width of a telephone', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`/days/${ACCOUNT}/${NIGHT}`);
    const caption = await page.locator('caption:not(.unseen)').boundingBox();
    expect(caption?.width).toBeGreaterThan(300);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('draws money by bars of one scale a currency, each beside its amount', async () => {
    await page.goto('/');
    const drawn = await page.evaluate<Drawn[]>(
      `[...document.querySelectorAll('.charts table')].flatMap((table) =>
        [...table.querySelectorAll('tr:has(a)')].map((row) => ({
          age: row.querySelector('th').textContent, amount: row.querySelector('a').textContent,
          all: table.querySelector('caption a').textContent,
          bar: row.querySelector('rect').getBoundingClientRect().toJSON(),
          room: row.querySelector('svg').getBoundingClientRect().width })))`,
    );
    const { db } = console.app;
    const at = { at: console.clock.now, timezone: 'UTC' };
    const groups = await countBreaks(db, { states: ['open'] }, 'age', at, 10);
    const expected = AGES.flatMap(({ name, words }) =>
      Object.entries(groups.find(({ key }) => key === name)?.money ?? {}).map(
        ([currency, amount]) => `${words}: ${moneyIn(amount, currency)}`,
      ),
    );
    expect(drawn.map(({ age, amount }) => `${age}: ${amount}`).sort()).toEqual(expected.sort());
    const sizeOf = (text: string): number => Number.parseFloat(text.replaceAll(',', ''));
    for (const all of new Set(drawn.map((one) => one.all))) {
      const bars = drawn.filter((one) => one.all === all);
      const most = Math.max(...bars.map(({ amount }) => sizeOf(amount)));
      for (const { amount, bar, room } of bars) {
        expect(bar.left).toBe(bars[0]?.bar.left);
        expect(bar.width).toBeCloseTo((sizeOf(amount) / most) * room, 0);
      }
      const sum = bars.reduce((total, { amount }) => total + sizeOf(amount), 0);
      expect(sum).toBeCloseTo(sizeOf(all), 2);
    }
    expect(drawn.length).toBeGreaterThan(new Set(drawn.map((one) => one.all)).size);
    const text = await page.locator('main').innerText();
    expect(text).toContain('How many breaks were open at the end of each night');
    expect(text).toContain('How many breaks are open, by age');
  });

  it(
    'has no barriers and fits, in every width',
    async () => {
      for (const path of await paths()) await lookAt(path);
      expect(found.light.splice(0)).toEqual([]);
    },
    SLOWLY_MS,
  );

  it(
    'nor where something is decided, before and after the press',
    async () => {
      await lookAtDecisions();
      await lookAtPresses();
      expect(found.light.splice(0)).toEqual([]);
    },
    SLOWLY_MS,
  );

  it('nor for who comes in or goes out', async () => {
    await lookAtDoor();
    expect(found.light).toEqual([]);
  });

  it('has forms that bring what they may, each to where it goes', () => {
    expect(found.forms).toEqual([]);
    expect(formsSeen).toBeGreaterThan(50);
  });

  it('can be read in the dark', () => {
    expect(found.dark).toEqual([]);
    expect(tab.complaints).toEqual([]);
  });
});
