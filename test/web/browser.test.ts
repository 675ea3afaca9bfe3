// The console as people use it, in a real Chromium: a finance person's morning, an operator's bad
// night, two approvers who race, a stolen session; with and without scripts, by keyboard, on paper.
// Skipped by name where there is no chromium. How each page looks: everyPage.test.ts.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startWorkers } from '../../jobs/worker.js';
import type { QueueName } from '../../src/core/queuePort.js';
import { QUEUES } from '../../src/core/queuePort.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { auditRun } from '../faults/audit.js';
import type { Tab } from '../support/chromium.js';
import { CHROMIUM, launch, openTab } from '../support/chromium.js';
import { ensureBuilt, startTieout } from '../support/cli.js';
import type { House } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, PASSWORD } from './consoleHouse.js';

/** Longer than it takes to kill a process, and shorter than a test may take. */
const SLOW_MS = 15_000;
const MARKUP = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;

/** A night as the built program, killed while the gateway has done what it asked and not said so. */
async function killedWorker(house: House): Promise<void> {
  await ensureBuilt();
  const run = startTieout(['run'], { cwd: house.folder });
  const isCancelled = async (): Promise<void> => {
    const effects = await house.effects();
    expect(effects.some(({ operation }) => operation === 'cancel')).toBe(true);
  };
  await vi.waitFor(isCancelled, { timeout: 30_000, interval: 20 });
  run.signal('SIGKILL');
  await run.ended;
}

describe.skipIf(CHROMIUM === null)('in a browser', () => {
  let console: ConsoleHouse;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    let lost = 0;
    let refunds = 0;
    console = await openConsole({
      before: killedWorker,
      orders: 150,
      settings: { operations: { capture: 'auto', cancel: 'auto', refund: 'approve' } },
      // Captures are done, and the answers of the first two batches never arrive; nor does that to
      // the first refund, and the process that waits for the first cancel is killed meanwhile.
      fault: ({ operation, number }) => {
        if (operation === 'cancel' && number === 1) return { kind: 'slow', ms: SLOW_MS };
        if (operation === 'refund') {
          refunds += 1;
          return refunds === 1 ? { kind: 'drop', when: 'after' } : null;
        }
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
    expect(sentence).toMatch(/^Business date \d{4}-\d{2}-\d{2} (did not tie out|is incomplete)/);
    await page.getByRole('link', { name: 'breaks are open in all' }).click();
    await page.getByRole('heading', { level: 1, name: 'Breaks' }).waitFor();
    const first = page.locator('tbody tr').first();
    const orderNo = await first.locator('th').innerText();
    await first.getByRole('checkbox').check();
    await page.getByLabel('Note', { exact: true }).fill(MARKUP);
    await page.getByRole('button', { name: 'Note', exact: true }).click();
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

  it("is an operator's bad night: killed worker, lost answers, a failed job, nothing twice", async () => {
    const { db } = console.app;
    const { page, complaints, context } = await tabOf(await console.withRole('operator'));
    // The process that sent this one was killed before the answer came; a later snapshot settled it.
    const { rows } = await db.query<{ id: bigint; operation: string }>(
      `select min(instruction_id) as id, operation from tieout.instruction_events
       join tieout.instructions using (instruction_id) where to_state = 'unknown'
       group by operation order by operation`,
    );
    expect(rows.map(({ operation }) => operation)).toEqual(['cancel', 'capture']);
    for (const { id } of rows) {
      await page.goto(`/instructions/${id}`);
      const told = await page.locator('main').innerText();
      expect(told).toMatch(/Attempts to send[\s\S]*No answer/);
      expect(told).toContain('confirmed');
    }
    await db.query(
      `update tieout.run_accounts set sending = 'stopped', sending_reason = 'answers were lost'
       where account_id = 'A1002'`,
    );
    // From any page, and said on every page while it stands.
    await page.goto('/breaks');
    await page.locator('summary', { hasText: 'Stop sending' }).click();
    await page.getByLabel('Reason to stop sending').fill('answers are lost');
    await page.getByRole('button', { name: 'Stop now' }).click();
    await page.getByText('Sending is stopped. Snapshots go on.').waitFor();
    await page.goto('/breaks');
    expect(await page.locator('aside.stopped').innerText()).toContain('answers are lost');
    await page.goto('/');
    expect(await page.getByText('answers are lost').count()).toBe(1);
    await page.goto('/brake');
    const reason = page.locator('main').getByLabel('Reason');
    await reason.fill('they come again');
    await page.getByRole('button', { name: 'Resume sending' }).click();
    // An account that tieout itself has stopped stays so, and is named. (The one whose two answers
    // were lost has begun again by itself: a snapshot has shown what happened.)
    await page.getByText('A1002 sends nothing').waitFor();
    await page.locator('select[name=account]').selectOption('A1002');
    await reason.fill('the line is well again');
    await page.getByRole('button', { name: 'Resume sending' }).click();
    await page.getByText('Sending is not stopped.').waitFor();
    expect(await page.locator('aside.stopped').count()).toBe(0);

    const refund = await approvedPartialRefund();
    await failingWorker('refund');
    await page.goto('/jobs');
    const job = page.locator('tbody tr', { hasText: 'refund' });
    expect(await job.innerText()).toContain('the worker fell over');
    await job.getByRole('button', { name: /retry/ }).click();
    await whenDone(page);
    expect(await page.locator('main').innerText()).toMatch(/1 of 1 done[\s\S]*weighed again/);
    await send();
    await page.goto('/jobs');
    expect(await page.locator('.empty').innerText()).toContain('No job');

    // Its answer was lost, and of a part of the money no snapshot can tell: a person does.
    await page.goto('/instructions?state=unknown');
    await page
      .locator('tbody tr')
      .getByRole('link', { name: /refund/ })
      .click();
    await page.getByText('What to look for in the merchant portal').waitFor();
    await page.getByLabel('Finding').selectOption('happened');
    await page.getByLabel('Reason', { exact: true }).fill('the portal shows it');
    await page.getByLabel('Reference').fill('P-1');
    await page.getByRole('button', { name: /Resolve/ }).click();
    await whenDone(page);
    expect(await page.locator('main').innerText()).toContain('1 of 1 done');
    await page.goto('/instructions?state=unknown');
    expect(await page.locator('.empty').innerText()).toContain('No instruction');
    await send();
    const effects = await console.house.effects();
    expect(await auditRun(db, effects)).toEqual([]);
    expect(effects.filter(({ order_no }) => order_no === refund)).toHaveLength(1);
    expect(complaints).toEqual([]);
    await context.close();
  });

  async function send(): Promise<void> {
    const accounts = console.app.config.accounts.map(({ accountId }) => accountId);
    await sendApproved(await console.app.sendDeps(), accounts, await console.app.workforce());
  }

  /** Approves one as a person would; answers its order. */
  async function approvedPartialRefund(): Promise<string> {
    const { rows } = await console.app.db.query<{ id: string; order: string }>(
      `select instruction_id::text as id, order_no as order from tieout.instructions
       where state = 'held' and operation = 'refund' and refund_amount < amount
       order by instruction_id desc limit 1`,
    );
    const [one] = rows;
    if (!one) throw new Error('no part of an order waits to be given back');
    const approver = await console.withRole('approver');
    const { body } = await approver.get('/approvals');
    const pick = new RegExp(`value="(${one.id}:[0-9a-f]{64})"`).exec(body)?.[1] ?? '';
    const answer = await approver.post('/approvals/approve', { id: pick });
    expect(answer.body).toContain('1 of 1 done');
    return one.order;
  }

  /** A worker that takes the jobs of a queue and falls over with each, until one has failed. */
  async function failingWorker(queue: QueueName): Promise<void> {
    const queues = await console.app.queues();
    const nothing = async (): Promise<void> => undefined;
    const handlers = Object.fromEntries(QUEUES.map((name) => [name, nothing]));
    const workers = await startWorkers({
      queues,
      handlers: {
        ...(handlers as Record<QueueName, () => Promise<void>>),
        [queue]: () => Promise.reject(new Error('the worker fell over')),
      },
      log: () => undefined,
    });
    await vi.waitFor(async () => expect((await queues.counts())[queue].failed).toBe(1), 20_000);
    await workers.stop(5_000);
  }

  it('lets one of two approvers through who press at once, the other one is told', async () => {
    const tabs: Tab[] = [];
    for (const scripts of [true, false]) {
      tabs.push(await tabOf(await console.withRole('approver'), { scripts }));
    }
    const orders = await Promise.all(
      tabs.map(async ({ page }) => {
        await page.goto('/approvals');
        const row = page.locator('form tbody tr', { hasText: 'refund' }).first();
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
    await send();
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

  it('prints twenty-five breaks on at most six pages', async () => {
    const { page, context } = await tabOf(await console.withRole('viewer'));
    await console.app.db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint, currency, amount, owner)
       select b.account_id, 'PRINT-' || case n when 1 then gen_random_uuid()::text else n::text end,
         'missing_in_ledger', 'open', now(), first_run_id,
         last_run_id, '{}', '{"state": "captured", "amount": "1000.00", "currency": "JPY"}', '',
         'JPY', 1000, case n when 2 then 'somebody-with-a-long-name' end
       from (select * from tieout.breaks limit 1) b, generate_series(1, 25) n`,
    );
    await page.goto('/breaks?text=PRINT-');
    expect(await page.locator('tbody tr').count()).toBe(25);
    expect(await page.locator('tbody').innerText()).not.toContain('.00');
    const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page\b/g);
    expect(pages?.length).toBeGreaterThan(0);
    expect(pages?.length).toBeLessThanOrEqual(6);
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
