// The console as people use it, in a real Chromium: a finance person's morning, an operator's bad
// night, two approvers who race, a stolen session; with and without scripts, by keyboard, light and
// dark. Skipped by name where there is no chromium.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendApproved } from '../../src/night/sendApproved.js';
import type { Tab } from '../support/chromium.js';
import { barriers, CHROMIUM, launch, openTab } from '../support/chromium.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, PASSWORD } from './consoleHouse.js';

const PAGE_BYTES_MAX = 100_000;
const MARKUP = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;

describe.skipIf(CHROMIUM === null)('in a browser', () => {
  let console: ConsoleHouse;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    let lost = 0;
    console = await openConsole({
      orders: 150,
      settings: { operations: { capture: 'auto', cancel: 'auto', refund: 'approve' } },
      // Captures are done, and the answers of the first two batches never arrive.
      fault: ({ operation }) => {
        lost += operation === 'capture' ? 1 : 0;
        return operation === 'capture' && lost <= 2 ? { kind: 'drop', when: 'after' } : null;
      },
    });
    await console.addPerson('fiona', [{ role: 'finance', accountId: null }]);
    base = await console.server.listen({ host: '127.0.0.1', port: 0 });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await console?.end();
  });

  const whenDone = (page: Page) =>
    page.getByRole('heading', { level: 1, name: 'What was done' }).waitFor();

  function tabOf(visitor: Visitor, options: { scripts?: boolean; scheme?: 'light' | 'dark' } = {}) {
    return openTab(browser, { base, session: visitor.cookies['tieout-session'] ?? '', ...options });
  }

  it("is a finance person's morning: does it tie, why not, a note, the workbook", async () => {
    const { page, complaints, context } = await openTab(browser, { base });
    await page.goto('/');
    // By keyboard alone: the first stop skips to the content, the form takes it from there.
    await page.fill('#name', 'fiona');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const sentence = await page.locator('p.sentence').innerText();
    expect(sentence).toMatch(/^Business date \d{4}-\d{2}-\d{2} is (broken|incomplete)/);
    await page.getByRole('link', { name: 'breaks are open in all' }).click();
    await page.getByRole('heading', { level: 1, name: 'Breaks' }).waitFor();
    const first = page.locator('tbody tr').first();
    const orderNo = await first.locator('th').innerText();
    await first.getByRole('checkbox').check();
    await page.getByLabel('Note, owner, or reason').fill(MARKUP);
    await page.getByRole('button', { name: 'Note' }).click();
    await whenDone(page);
    expect(await page.locator('p.sentence').innerText()).toBe('1 of 1 done.');
    await page.fill('#q', orderNo);
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { level: 1, name: orderNo }).waitFor();
    expect(await page.locator('main').innerText()).toContain('onerror');
    await page.goto('/');
    // Two clicks from the first page.
    await page.getByRole('link', { name: 'Reports' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'reconciliation (xlsx)' }).first().click(),
    ]);
    const bytes = readFileSync(await download.path());
    const { rows } = await console.app.db.query<{ sha256: string }>(
      `select sha256 from tieout.reports where kind = 'reconciliation' and state = 'written'`,
    );
    const digest = createHash('sha256').update(bytes).digest('hex');
    expect(rows.map(({ sha256 }) => sha256)).toContain(digest);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("is an operator's bad night: unknown ones, what to look for, resolved, nothing twice", async () => {
    const before = await console.house.effects();
    const { page, complaints, context } = await tabOf(await console.withRole('operator'));
    await page.goto('/instructions?state=unknown');
    const unknown = page.locator('tbody tr');
    const count = await unknown.count();
    if (count === 0) {
      // The looks after sending showed what had happened: nothing is left for a person.
      expect(await page.locator('.empty').innerText()).toContain('No instruction');
    }
    const { rows } = await console.app.db.query<{ id: bigint }>(
      `select min(instruction_id) as id from tieout.instruction_events where to_state = 'unknown'`,
    );
    expect(rows[0]?.id).not.toBeNull();
    await page.goto(`/instructions/${rows[0]?.id}`);
    expect(await page.locator('main').innerText()).toMatch(/Attempts to send[\s\S]*No answer/);
    await page.goto('/jobs');
    expect(await page.locator('h1').innerText()).toBe('Failed jobs');
    await page.goto('/brake');
    await page.getByLabel('Reason').fill('answers are lost');
    await page.getByRole('button', { name: 'Stop all sending' }).click();
    await page.getByText('Sending is stopped').waitFor();
    await page.goto('/');
    expect(await page.locator('p.problem').innerText()).toContain('answers are lost');
    await page.goto('/brake');
    await page.getByLabel('Reason').fill('they come again');
    await page.getByRole('button', { name: 'Let it go' }).click();
    await page.getByText('Nothing is braked.').waitFor();
    const effects = await console.house.effects();
    expect(effects).toEqual(before);
    const captures = effects.filter(({ operation }) => operation === 'capture');
    const orders = captures.map(({ account_id, order_no }) => `${account_id} ${order_no}`);
    expect(new Set(orders).size).toBe(orders.length);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('lets one of two approvers through who press at once, the other one is told', async () => {
    const tabs: Tab[] = [];
    for (const scripts of [true, false]) {
      tabs.push(await tabOf(await console.withRole('approver'), { scripts }));
    }
    const orders = await Promise.all(
      tabs.map(async ({ page }) => {
        await page.goto('/approvals');
        const row = page.locator('tbody tr', { hasText: 'refund' }).first();
        await row.getByRole('checkbox').check();
        return row.locator('td').nth(3).innerText();
      }),
    );
    expect(orders[0]).toBe(orders[1]);
    const told = await Promise.all(
      tabs.map(async ({ page }) => {
        await page.getByRole('button', { name: 'Approve' }).click();
        await whenDone(page);
        return page.locator('main').innerText();
      }),
    );
    expect(
      told.filter((text) => text.includes('1 of 1 done')),
      told.join(),
    ).toHaveLength(1);
    expect(
      told.filter((text) => text.includes('0 of 1 done')),
      told.join(),
    ).toHaveLength(1);
    const accounts = console.app.config.accounts.map(({ accountId }) => accountId);
    await sendApproved(await console.app.night(), accounts, await console.app.workforce());
    const effects = await console.house.effects();
    const refunds = effects.filter(
      (one) => one.operation === 'refund' && one.order_no === orders[0],
    );
    expect(refunds).toHaveLength(1);
    for (const { context, complaints } of tabs) {
      expect(complaints).toEqual([]);
      await context.close();
    }
  });

  it('ends a stolen session with the one it was stolen from', async () => {
    const victim = await tabOf(await console.withRole('finance'));
    await victim.page.goto('/breaks');
    const cookies = await victim.context.cookies();
    const stolen = cookies.find(({ name }) => name === 'tieout-session')?.value ?? '';
    expect(await victim.page.evaluate('document.cookie')).toBe('');
    const thief = await openTab(browser, { base, session: stolen });
    await thief.page.goto('/breaks');
    expect(await thief.page.locator('h1').innerText()).toBe('Breaks');
    await victim.page.getByRole('button', { name: 'Sign out' }).click();
    await victim.page.waitForURL('**/sign-in');
    await thief.page.goto('/breaks');
    expect(await thief.page.locator('h1').innerText()).toBe('Sign in');
    await victim.page.goBack();
    expect(await victim.page.locator('h1').innerText()).toBe('Sign in');
    await victim.context.close();
    await thief.context.close();
  });

  it.each(['light', 'dark'] as const)('has no barriers and is light, %s', async (scheme) => {
    const visitor = await console.visitor(
      (['finance', 'operator', 'approver', 'admin'] as const).map((role) => ({
        role,
        accountId: null,
      })),
    );
    const { page, complaints, context } = await tabOf(visitor, { scheme });
    const { rows } = await console.app.db.query<{ b: bigint; i: bigint; a: string; o: string }>(
      `select break_id as b, (select min(instruction_id) from tieout.instructions) as i,
         account_id as a, order_no as o from tieout.breaks order by break_id limit 1`,
    );
    const [row] = rows;
    const paths = [
      ...['/', '/breaks', `/breaks/${row?.b}`, '/approvals', '/instructions', '/brake', '/reports'],
      ...[
        `/instructions/${row?.i}`,
        `/orders/${row?.a}/${row?.o}`,
        '/jobs',
        '/activity',
        '/audit',
        '/days',
      ],
      ...['/settings', '/search?q=none', '/nowhere', '/confirm'],
    ];
    const found: string[] = [];
    for (const path of paths) {
      const answer = await page.goto(path);
      found.push(...(await barriers(page)).map((barrier) => `${path} ${barrier}`));
      expect((await answer?.body())?.length, path).toBeLessThan(PAGE_BYTES_MAX);
      // Nothing runs over the edge of a narrow window but tables, which scroll by themselves.
      await page.setViewportSize({ width: 400, height: 800 });
      const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (over !== 0) found.push(`${path} is ${over} too wide`);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    expect([...found, ...complaints]).toEqual([]);
    await context.close();
  });

  it('begins with a way past the header, for the keyboard', async () => {
    const { page, context } = await tabOf(await console.withRole('viewer'));
    await page.goto('/breaks');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/Skip/);
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await context.close();
  });
});
