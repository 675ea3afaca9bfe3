// Whoever approves a payout sees to which account it goes and what leaves ours, on every way to
// approve it; who may not approve has the end of the account, and so has what is kept.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { openXlsx, sheetOf } from '../reports/openXlsx.js';
import { tieoutHere } from '../support/cliHere.js';
import { edited, fill } from '../support/workbookEdits.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

const IBAN = 'AT611904300234573201';
const requestId = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const PAYLOAD = {
  payment_amount: '100',
  payment_currency: 'JPY',
  source_amount: '900000',
  source_currency: 'EUR',
  reference: 'invoice 4711',
  beneficiary: {
    company_name: 'Nordlicht GmbH',
    bank_details: { iban: IBAN, account_name: 'Eve Ltd', swift_code: 'BKAUATWW' },
  },
};

let console: ConsoleHouse;
let approver: Visitor;
let viewer: Visitor;

beforeAll(async () => {
  console = await openConsole({
    settings: { operations: { payout: 'approve' } },
    before: async ({ db }) => {
      await db.query(
        `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
         select id, 'A1001', $2::jsonb || jsonb_build_object('reference', 'invoice ' || at),
           now() - interval '1 minute'
         from unnest($1::uuid[]) with ordinality ids (id, at)`,
        [[1, 2, 3].map(requestId), JSON.stringify(PAYLOAD)],
      );
    },
  });
  approver = await console.withRole('approver');
  viewer = await console.withRole('viewer');
}, 180_000);
afterAll(() => console.end());

const textOf = (body: string): string => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

async function waiting(): Promise<{ id: string; seen: string }[]> {
  const { rows } = await console.app.db.query<{ id: string; seen: string }>(
    `select i.instruction_id::text as id,
       tieout.shown_sha256(i, tieout.seen_of(i)) as seen
     from tieout.instructions i where operation = 'payout' and state = 'held' order by 1`,
  );
  return rows;
}

const WHOLE = `Account: IBAN ${IBAN}, in the name of Eve Ltd, bank BKAUATWW`;
const END = 'IBAN AT...3201';
const LEAVES = 'Leaves our account: 900000 EUR as written';

describe('of a payout that waits', () => {
  it('its page shows the account and what leaves ours, on its button as well', async () => {
    const [one] = await waiting();
    const text = textOf((await approver.get(`/instructions/${one?.id}`)).body);
    expect(text).toContain(`${WHOLE} ; no payout to it is confirmed yet`);
    expect(text).toContain(LEAVES);
  });

  it('its button says what leaves our account, beside what arrives', async () => {
    const [one] = await waiting();
    console.clock.now = new Date();
    await console.app.db.query('update tieout.sessions set confirmed_at = now()');
    const { body } = await approver.get(`/instructions/${one?.id}`);
    expect(textOf(body)).toMatch(
      /Approve .*100 JPY as written.*, for which 900000 EUR as written leaves our account: it will/,
    );
  });

  it('the list shows the same to who may approve, and to others the end of the account', async () => {
    const list = textOf((await approver.get('/approvals')).body);
    expect(list.split(WHOLE)).toHaveLength(4);
    expect(list.split(LEAVES)).toHaveLength(4);
    const [one] = await waiting();
    for (const page of ['/approvals', `/instructions/${one?.id}`]) {
      const { body } = await viewer.get(page);
      expect(textOf(body), page).toContain(END);
      expect(textOf(body), page).toContain(LEAVES);
      expect(body, page).not.toContain(IBAN);
      expect(body, page).not.toContain('Eve Ltd');
    }
  });

  it('ticks and a set show where each goes, and what leaves in all', async () => {
    const id = (await waiting()).map((one) => `${one.id}:${one.seen}`);
    const picked = await approver.post('/approvals/approve', { id, words: '' });
    const set = await approver.get('/instructions/all/approve?operation=payout');
    for (const { statusCode, body } of [picked, set]) {
      expect(statusCode).toBe(200);
      expect(textOf(body).split(WHOLE)).toHaveLength(4);
      expect(textOf(body)).toContain('; 2700000 EUR as written leaves our account');
    }
  });

  it('the workbook has in columns what is asked for, to whom, and its reference; so has what comes back', async () => {
    const { rows } = await console.app.db.query<{ path: string }>(
      `select path from tieout.reports where kind = 'reconciliation' and format = 'xlsx'
       order by report_id desc limit 1`,
    );
    const path = rows[0]?.path ?? '';
    const sheet = sheetOf(await openXlsx(path), 'Waiting for you');
    const cells = JSON.stringify(sheet.getSheetValues());
    const asked = '100 JPY as written, for which 900000 EUR as written leaves our account';
    const payee = `Nordlicht GmbH; ${END}, bank BKAUATWW`;
    const known = 'no payout to it is confirmed yet';
    expect(cells).toContain(
      JSON.stringify([asked, `${payee}; ${known}`, 'invoice 1']).slice(1, -1),
    );
    expect(cells).not.toContain(`the operation needs approval: look, then approve; ${payee}`);
    expect(cells).not.toContain(IBAN);
    const [one] = await waiting();
    const back = await edited(path, join(console.house.folder, 'payout.xlsx'), (parts) => {
      fill(parts, 'Waiting for you', one?.id ?? '', { decision: 'approve' });
    });
    const decided = ['decide', back, '--as', 'berta', '--check'];
    const checked = await tieoutHere(decided, { cwd: console.house.folder });
    const why = 'waiting because the operation needs approval';
    expect(checked.stdout).toContain(
      `, account A1001, ${asked}, to ${payee}, ${why}: would be done`,
    );
    const form = new FormData();
    form.set('_csrf', await approver.token());
    form.set('upload', new File([new Uint8Array(await readFile(back))], 'payout.xlsx'));
    const sent = new Response(form);
    const { headers } = await console.server.inject({
      ...{ method: 'POST', url: '/reports/decisions/check', cookies: approver.cookies },
      headers: { 'content-type': sent.headers.get('content-type') ?? '' },
      payload: Buffer.from(await sent.arrayBuffer()),
    });
    const preview = textOf((await approver.get(String(headers.location))).body);
    expect(preview).toContain(`${asked}, to ${payee} approve`);
  });

  it('the command line shows the same before and with the approval', async () => {
    const [one] = await waiting();
    const run = (...args: string[]) =>
      tieoutHere(['instructions', ...args], { cwd: console.house.folder });
    const shown = await run('show', one?.id ?? '');
    const checked = await run('approve', one?.id ?? '', '--as', 'berta', '--check');
    for (const { stdout } of [shown, checked]) {
      expect(stdout).toContain(
        `account  IBAN ${IBAN}, in the name of Eve Ltd, bank BKAUATWW; ` +
          'no payout to it is confirmed yet',
      );
      expect(stdout).toContain('leaves   our account: 900000 EUR as written');
    }
  });
});

describe('of a payout that was approved', () => {
  it('the decision keeps the end of the account; what is confirmed makes it a known one', async () => {
    const [one, two] = await waiting();
    const { app, house } = console;
    const { config, db } = app;
    const deciding = { config, db, queuePort: await app.queues(), now: () => new Date() };
    await decideInstructions(
      { ...deciding, log: () => {} },
      {
        ids: [BigInt(one?.id ?? 0)],
        decision: { kind: 'approve', reason: null },
        who: { name: 'berta', isClaim: true },
      },
    );
    const kept = await app.db.query<{ seen: string }>(
      'select seen::text as seen from tieout.decisions where instruction_id = $1',
      [one?.id],
    );
    expect(kept.rows[0]?.seen).toContain(END);
    expect(kept.rows[0]?.seen).not.toContain(IBAN);
    const accountIds = house.accounts.map(({ accountId }) => accountId);
    const sent = await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
    expect(sent).toMatchObject([{ operation: 'payout', state: 'confirmed' }]);
    const text = textOf((await approver.get(`/instructions/${two?.id}`)).body);
    expect(text).toContain(WHOLE);
    expect(text).not.toContain('confirmed yet');
    const done = await approver.get(`/instructions/${one?.id}`);
    expect(textOf(done.body)).toContain(END);
    // The answer repeats the request.
    expect(done.body).toMatch(new RegExp(`<pre class="raw">[^<]*${IBAN}`));
    const seen = await viewer.get(`/instructions/${one?.id}`);
    expect(seen.body).toContain('Its answer names the account that was paid');
    expect(seen.body).not.toContain(IBAN);
  });
});
