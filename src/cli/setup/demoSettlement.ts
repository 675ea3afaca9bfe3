// The demo's acquirer: the settlement file of its sandbox is put through the inbox as a merchant's
// would be, after the night, and what became of the money is said. Neighbour: demo.ts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { TieoutError } from '../../core/errors.js';
import { DAY_MS } from '../../core/time.js';
import { packageRoot } from '../../database/statements.js';
import { readListening, stateFiles } from '../../sandbox/state.js';
import { openInbox } from '../../settlement/inbox.js';
import { settledAccounts, settlementRules } from '../../settlement/settlement.js';
import { oldestOpen, settlementFigures } from '../../settlement/settlementStore.js';
import { settlementLines } from '../../settlement/settlementWords.js';
import type { App } from '../app.js';

/** The seeded orders are younger: all that is captured is in the books. */
const BOOKS_DAYS = 60;

/** What the sandbox's acquirer takes (docs/SANDBOX.md). */
const AGREED =
  'type: captured, percent: "1.40", ' +
  'fixed: { EUR: "0.25", GBP: "0.25", PLN: "0.25", USD: "0.25" }';

/** The section `settlement` as the demo's file has it. */
export function settlementSection(dataDir: string, accountIds: readonly string[]): string {
  const from = new Date(Date.now() - BOOKS_DAYS * DAY_MS).toISOString().slice(0, 10);
  const map = join(packageRoot(), 'docs', 'maps', 'sandbox-settlement.yaml');
  return [
    'settlement:',
    `  from: "${from}"`,
    `  inbox: ${JSON.stringify(`${dataDir}/inbox`)}`,
    `  files: [{ match: "sandbox_*.csv", map: ${JSON.stringify(map)} }]`,
    '  tariff:',
    ...accountIds.map((accountId) => `    - { accountId: ${accountId}, ${AGREED} }`),
    '',
  ].join('\n');
}

/**
 * What is settled by yesterday goes through the inbox, with what the sandbox plants in it; the same
 * again changes nothing.
 */
export async function takeSettled(app: App, config: Config): Promise<void> {
  const inbox = config.settlement?.inbox ?? null;
  if (inbox === null) return;
  const listening = readListening(stateFiles(join(config.dataDir, 'sandbox')));
  if (listening === null) return;
  const answer = await fetch(`${listening.baseUrl}/_sandbox/settlement?differences=1`);
  if (!answer.ok) throw new TieoutError(`the sandbox gave no settlement file: ${answer.status}`);
  const day = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  mkdirSync(inbox, { recursive: true, mode: 0o700 });
  writeFileSync(join(inbox, `sandbox_${day}.csv`), await answer.text());
  const { db, log } = app;
  const look = openInbox({ db, config, log, now: () => new Date() });
  // A file is taken when it is the same at two looks.
  await look();
  await look();
}

/** What became of the captured money, a sentence a currency. */
export async function moneyInTransit(app: App, config: Config): Promise<string[]> {
  const rules = settlementRules(config);
  if (rules === null) return [];
  const accountIds = config.accounts.map(({ accountId }) => accountId);
  const accounts = await settledAccounts(app.db, rules, accountIds, null);
  const document = await settlementFigures(app.db, accounts, rules.times);
  const lines = settlementLines(document, await oldestOpen(app.db, accounts), rules.times.from);
  return ['', 'Money in transit (`tieout settlement`)', ...lines.map((line) => `  ${line}`)];
}
