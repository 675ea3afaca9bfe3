// What `tieout doctor` says of settlement: what waits in the inbox, what is overdue, and what is
// left where the section is gone.

import { unkeptBreaks } from '../../../breaks/unkeptStore.js';
import type { Config } from '../../../config/config.js';
import { unreadKeys } from '../../../config/settlement.js';
import { messageOf } from '../../../core/errors.js';
import { leftMoneyNotice, unkeptBreaksNotice } from '../../../core/settlement/unkeptSettlement.js';
import { countText } from '../../../core/text/amounts.js';
import { leftMoney } from '../../../movements/leftMoneyStore.js';
import { inTime } from '../../../processes/inTime.js';
import { inboxFigures } from '../../../settlement/inbox.js';
import { settledAccounts, settlementRules } from '../../../settlement/settlement.js';
import { oldestOpen } from '../../../settlement/settlementStore.js';
import type { App } from '../../app.js';
import type { Check } from './check.js';

export async function settlementChecks(app: App): Promise<Check[]> {
  return [
    ...(await overdueChecks(app)),
    ...(await unkeptChecks(app)),
    ...(await leftMoneyChecks(app)),
  ];
}

/** Who sets a key waits for what it does. */
export function unreadChecks({ settlement }: Config): Check[] {
  const keys = settlement === null ? [] : unreadKeys(settlement);
  if (keys.length === 0) return [];
  const words = `nothing reads ${keys.join(', ')} yet: statements of the bank are not taken`;
  return [{ name: 'settlement', kind: 'warning', words }];
}

/** What the acquirer's files have been owing for too long; nothing where it is not kept. */
async function overdueChecks({ db, config }: App): Promise<Check[]> {
  const rules = settlementRules(config);
  if (rules === null) return [];
  const accountIds = config.accounts.map(({ accountId }) => accountId);
  const oldest = await oldestOpen(db, await settledAccounts(db, rules, accountIds, null));
  return [...new Set(oldest.map(({ accountId }) => accountId))].map((accountId) => {
    const late = oldest.filter((one) => one.accountId === accountId && one.overdue > 0);
    const overdue = late.reduce((sum, one) => sum + one.overdue, 0);
    const [since] = late.map((one) => one.since).sort();
    const of = { name: `settlement ${accountId}`, accountId };
    if (overdue === 0) return { ...of, kind: 'ok', words: 'nothing is overdue' };
    const words = `${overdue} overdue, the oldest since ${since}: is a file missing?`;
    return { ...of, kind: 'warning', words };
  });
}

/** Breaks that nothing resolves since the section was taken out. */
async function unkeptChecks({ db, config }: App): Promise<Check[]> {
  const accountIds = config.accounts.map((account) => account.accountId);
  const found = await unkeptBreaks(db, config, accountIds);
  return found.map(unkeptBreaksNotice).map(({ accountId, text }) => {
    return { name: `settlement ${accountId}`, accountId, kind: 'problem', words: text };
  });
}

/** Money of accounts that left, which no file settles any more. */
async function leftMoneyChecks({ db, config }: App): Promise<Check[]> {
  const accountIds = config.accounts.map((account) => account.accountId);
  const found = await leftMoney(db, config, accountIds);
  return found.map(leftMoneyNotice).map(({ accountId, text }) => {
    return { name: `settlement ${accountId}`, accountId, kind: 'warning', words: text };
  });
}

/** A share that is away may answer nothing. */
const INBOX_TIMEOUT_MS = 5_000;

/** What lies in the folder whose files are imported by themselves. */
export async function inboxChecks({ settlement }: Config): Promise<Check[]> {
  const inbox = settlement?.inbox ?? null;
  if (inbox === null) return [];
  const name = 'inbox';
  try {
    const { waiting, refused, strange } = await inTime(inboxFigures(inbox), INBOX_TIMEOUT_MS);
    const left = strange.length === 0 ? '' : `; left alone, no plain file: ${strange.join(', ')}`;
    const words = `${inbox}: ${countText(waiting)} waiting, ${countText(refused)} refused${left}`;
    return [{ name, kind: refused + strange.length > 0 ? 'warning' : 'ok', words }];
  } catch (error) {
    return [{ name, kind: 'problem', words: `settlement.inbox: ${messageOf(error)}` }];
  }
}
