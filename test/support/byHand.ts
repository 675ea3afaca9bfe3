// A money call that a person makes by hand, as `tieout gateway OPERATION --yes` does it.

import type { CallName } from '../../src/cli/gateway/gatewayCall.js';
import { callGateway } from '../../src/cli/gateway/gatewayCall.js';
import { journalled } from '../../src/cli/gateway/gatewayJournal.js';
import { withPayments } from '../../src/gateway/payments/paymentClient.js';
import type { House } from './night.js';

/** Answers what became of it: accepted, rejected ... */
export async function byHand(
  house: House,
  accountId: string,
  operation: CallName,
  fields: Record<string, unknown>,
): Promise<string> {
  const app = await house.open();
  // The journal refuses a clock that jumps, and tests of that see what is behind it.
  const { journal: _, ...deps } = await app.sendDeps();
  const account = app.config.accounts.find((one) => one.accountId === accountId);
  if (!account) throw new Error(`no account ${accountId}`);
  const by = { name: 'dora', isClaim: true };
  const journal = journalled(deps, withPayments(deps.gateway), { operation, by, fields });
  const report = await callGateway(journal.client, account, operation, fields);
  await journal.end(report);
  return report.kind;
}
