// What `tieout doctor` says of the ledger: whether it can be read, accounts without orders, what an
// account left unfinished, orders that no run looks at, numbers that nobody can be asked for.

import { zonelessSentence } from '../../../core/ledger/zoneless.js';
import {
  leftAccountNotice,
  noHistorySentence,
  noOrdersNotice,
} from '../../../core/runs/notices.js';
import { strangeOrdersNotice } from '../../../core/runs/strangeOrders.js';
import { counted, countText } from '../../../core/text/amounts.js';
import { accountsWithoutOrders } from '../../../ledger/ledgerStore.js';
import { ledgerTrouble, zonelessColumns } from '../../../ledger/ledgerTroubleStore.js';
import { wholeReads } from '../../../ledger/lookupsStore.js';
import { strangeOrders } from '../../../ledger/strangeOrdersStore.js';
import { neverAskedOrders } from '../../../pull/snapshot/ledgerKeysStore.js';
import { lookbackFrom } from '../../../runs/deps.js';
import { leftAccounts } from '../../../runs/leftAccountsStore.js';
import { accountsWithoutHistory } from '../../../runs/runAccountsStore.js';
import type { App } from '../../app.js';
import type { Check } from './check.js';

/** What makes a run of an account worth nothing, or sends nothing of it. */
export async function ledgerChecks(app: App): Promise<Check[]> {
  const accountIds = app.config.accounts.map(({ accountId }) => accountId);
  const trouble = await ledgerTrouble(app.db);
  if (trouble !== null) return [{ name: 'ledger', kind: 'problem', words: trouble }];
  const empty = await accountsWithoutOrders(app.db, accountIds);
  const lost = await accountsWithoutHistory(app.db, app.config.accounts, new Date());
  return [
    ...empty.map((accountId) => ({
      ...{ name: `ledger ${accountId}`, accountId, kind: 'warning' as const },
      words: noOrdersNotice(accountId).text,
    })),
    ...lost.map((accountId) => ({
      ...{ name: `history ${accountId}`, accountId, kind: 'problem' as const },
      words: noHistorySentence(accountId),
    })),
    ...(await zoneChecks(app)),
    ...(await lookupChecks(app, accountIds)),
    ...(await numberChecks(app)),
    ...(await strangeChecks(app)),
  ];
}

/** Times that are read as UTC, whatever the shop means by them. */
async function zoneChecks({ db }: App): Promise<Check[]> {
  const columns = await zonelessColumns(db);
  if (columns.length === 0) return [];
  return [{ name: 'ledger times', kind: 'warning', words: zonelessSentence(columns) }];
}

/** Views of large tables in which one order is found by reading all of them. */
async function lookupChecks({ db }: App, accountIds: readonly string[]): Promise<Check[]> {
  return (await wholeReads(db, accountIds)).map(({ relation, table, rows, index }) => ({
    name: `ledger ${relation}`,
    kind: 'warning',
    words:
      `to find one row, all ${counted(Math.round(rows), 'row')} of ${table} are read, several ` +
      'times for each instruction that is sent. Make an index of the columns behind ' +
      `these: create index on ${table} (${index})`,
  }));
}

/** Order numbers that the gateway can never be asked for; nothing is said where there are none. */
async function numberChecks(app: App): Promise<Check[]> {
  const { select, orderList } = app.config.gateway.profile.query;
  if (select !== 'order_list') return [];
  const accountIds = app.config.accounts.map(({ accountId }) => accountId);
  const { orders, sample } = await neverAskedOrders(app.db, accountIds, orderList.separator);
  if (orders === 0) return [];
  const words =
    `${countText(orders)} in the ledger contain "${orderList.separator}" ` +
    `(query.orderList.separator of the profile), such as ${sample}: the gateway is ` +
    'never asked for them, and each is a break';
  return [{ name: 'order numbers', kind: 'warning', words }];
}

/** What an account left unfinished when it left the configuration. */
export async function leftChecks(app: App): Promise<Check[]> {
  const accountIds = app.config.accounts.map((account) => account.accountId);
  const left = await leftAccounts(app.db, accountIds);
  return left.map(leftAccountNotice).map(({ accountId, text: words }) => {
    return { name: `account ${accountId}`, accountId, kind: 'problem', words };
  });
}

/** Orders of accounts that no run looks at. */
async function strangeChecks({ db, config }: App): Promise<Check[]> {
  const accountIds = config.accounts.map((account) => account.accountId);
  const found = await strangeOrders(
    db,
    accountIds,
    await leftAccounts(db, accountIds),
    lookbackFrom({ config }, { endsAt: new Date() }),
  );
  return found.map(strangeOrdersNotice).map(({ accountId, text }) => {
    return { name: `account ${accountId}`, accountId, kind: 'warning', words: text };
  });
}
