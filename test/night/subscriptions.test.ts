// What a query says of subscriptions: a code without a meaning is named as other codes are and stops
// nothing; one that ended is told by the first night that sees it, and by no other.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import type { Notice } from '../../src/core/runs/notices.js';
import { statusCodesSeen } from '../../src/pull/snapshot/statusCodesStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

/** recurring_status by order number, as the gateway shows it now. */
const shown = new Map<string, string>();

/** A server before the sandbox, whose orders have the subscriptions of `shown`. */
async function front(target: string) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const answer = await fetch(`${target}${request.url}`, {
      method: 'POST',
      headers: { 'content-type': request.headers['content-type'] ?? '' },
      body: Buffer.concat(parts),
    });
    const page = (await answer.json()) as { orders_list?: Record<string, unknown>[] };
    for (const entry of page.orders_list ?? []) {
      const recurring_status = shown.get(String(entry.order_no)) ?? '';
      entry.subscription_result = { contract_name: 'club', recurring_status };
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { baseUrl: `http://127.0.0.1:${port}`, close };
}

test('an unknown code is named and stops nothing; what ended is told once', async () => {
  const house = await buildHouse({
    orders: 60,
    inLedger: kinds({ plain: 4 }),
    through: front,
    daysAgo: 3,
  });
  const profile = join(house.folder, 'gateway-profile.yaml');
  const recurring = 'recurring: { "1": active, "0": ended }';
  writeFileSync(profile, PROFILE_TEMPLATE.replace('recurring: { "1": active }', recurring));
  rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  const [one = '', two = '', three = ''] = house.seeded.map(({ ledger }) => ledger?.order_no ?? '');
  const night = async (daysAgo: number): Promise<readonly Notice[]> => {
    const { summary } = await house.run({ date: dateOf(daysAgo) });
    expect(summary.state).toBe('tied_out');
    const run = await findRun(house.db, dateOf(daysAgo));
    if (!run) throw new Error('no run');
    const { config, version } = await house.open();
    const deps = { db: house.db, config, version, progress: () => {} };
    expect((await verifyRun(deps, run)).differences).toEqual([]);
    return (summary.notices ?? []).filter(({ kind }) =>
      ['new_word', 'first_seen_word', 'subscription_ended'].includes(kind),
    );
  };
  try {
    shown.set(one, '1').set(two, '1').set(three, '7');
    expect(await night(3)).toMatchObject([
      { kind: 'new_word', about: 'recurring_status 7', text: expect.not.stringContaining('stop') },
    ]);
    expect(
      (await statusCodesSeen(house.db, null)).filter((code) => /^rec/.test(code.field)),
    ).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ word: '7', meaning: null, samples: [three] }),
        expect.objectContaining({ word: '1', meaning: 'active', newestEntries: 2 }),
      ]),
    );
    shown.set(one, '0');
    const told = await night(2);
    expect(told.map(({ kind }) => kind)).toEqual(['first_seen_word', 'subscription_ended']);
    expect(told[1]?.text).toContain(`1 subscription ended since the look before, of order ${one}:`);
    // The same date again says the same, the next one nothing more.
    expect((await night(2)).map(({ kind }) => kind)).toContain('subscription_ended');
    shown.set(two, '0');
    expect((await night(1)).map(({ text }) => text)).toEqual([
      expect.stringContaining(`of order ${two}:`),
    ]);
  } finally {
    await house.end();
  }
});
