// `tieout gateway OPERATION`: one call of the gateway as a person would try it, to fill a profile
// in line by line. Owns the flags and what stands before a call that moves money. Such a call is
// the person's own and no instruction: it is written down before it is made (gatewayJournal.ts),
// and the next run sees its effect as one that was made elsewhere. Neighbours: gatewayCall.ts
// calls, gatewayText.ts shows.

import { readFileSync, statSync } from 'node:fs';
import { Argument, Command } from 'commander';
import { firstNamed } from '../../core/accounts/alike.js';
import { observedWords } from '../../core/accounts/observed.js';
import { UsageError } from '../../core/errors.js';
import type { Account } from '../../gateway/account.js';
import { withPayments } from '../../gateway/payments/paymentClient.js';
import { describedOther } from '../../gateway/query/undocumented.js';
import { readStrictJson } from '../../gateway/wire/strictJson.js';
import { databaseNow } from '../../ledger/ledgerStore.js';
import type { App } from '../app.js';
import {
  configOf,
  deciderHere,
  deciderOf,
  printJson,
  printLines,
  wantsJson,
  withApp,
} from '../context.js';
import { CALLS, type CallName, callGateway, movesMoney } from './gatewayCall.js';
import { journalled } from './gatewayJournal.js';
import { callLines, shownCall } from './gatewayText.js';

const BODY_BYTES_MAX = 1_048_576;
const STDIN = 0;
/** `query` by the name that the gateway's document and the profile have for it. */
const QUERY_ON_WIRE = 'retrievalTrans';

interface GatewayFlags {
  body?: string;
  account?: string;
  yes?: boolean;
}

export function gatewayCommand(): Command {
  return new Command('gateway')
    .addArgument(new Argument('<operation>', 'what to call').choices([...CALLS, QUERY_ON_WIRE]))
    .option('--body <file>', 'JSON of the fields; ids and signature are added; - reads stdin')
    .option('--account <id>', 'accountId; may be left out where there is only one')
    .option('--yes', 'needed for everything that moves money or decides about it')
    .option('--as <name>', 'who calls (default: the user of this machine)')
    .option('--json', 'print one JSON document')
    .action(
      async (name: CallName | typeof QUERY_ON_WIRE, flags: GatewayFlags, command: Command) => {
        const operation = name === QUERY_ON_WIRE ? 'query' : name;
        const fields = flags.body === undefined ? {} : readBody(flags.body);
        // What cannot be called is not to be meant first.
        if (operation === 'cancelSubscription') {
          describedOther(configOf(command).gateway.profile, operation);
        }
        if (movesMoney(operation) && flags.yes !== true) {
          throw new UsageError(`${operation} is done for real: repeat the command with --yes`);
        }
        await withApp(
          command,
          async (app) => {
            const account = accountOf(app, flags.account);
            await refuseObserved(app, account, operation);
            const deps = await app.sendDeps();
            // Who only asks decides nothing, and may go through the guide by any configuration.
            const by = movesMoney(operation)
              ? await deciderHere(command, app)
              : deciderOf(command, app);
            const call = { operation, by, fields };
            const journal = journalled(deps, withPayments(deps.gateway), call);
            const report = await callGateway(journal.client, account, operation, fields);
            await journal.end(report);
            if (wantsJson(command)) printJson(shownCall(operation, account.accountId, report));
            else printLines(callLines(operation, account.accountId, report));
            return report.isFine ? 0 : 1;
          },
          { quiet: true },
        );
      },
    );
}

function readBody(file: string): Record<string, unknown> {
  const read = readStrictJson(bytesOf(file));
  if (read.kind === 'object') return read.value;
  throw new UsageError(`--body ${file}: ${read.reason.replace('the answer', 'it')}`);
}

function bytesOf(file: string): Buffer {
  try {
    const isTooLarge = file !== '-' && statSync(file).size > BODY_BYTES_MAX;
    if (!isTooLarge) return readFileSync(file === '-' ? STDIN : file);
  } catch (error) {
    throw new UsageError(`--body ${file} cannot be read`, { cause: error });
  }
  throw new UsageError(`--body ${file} is larger than ${BODY_BYTES_MAX} bytes`);
}

function accountOf(app: App, id: string | undefined): Account {
  const { accounts } = app.config;
  const ids = accounts.map(({ accountId }) => accountId);
  const account =
    id === undefined && accounts.length === 1
      ? accounts[0]
      : accounts.find(({ accountId }) => accountId === id);
  if (account !== undefined) return account;
  const problem = id === undefined ? 'say which --account' : `there is no account ${id}`;
  throw new UsageError(`${problem}: ${firstNamed(ids)}`);
}

/** Not of an account that is only observed; against a test gateway anybody may try. */
async function refuseObserved(app: App, account: Account, operation: CallName): Promise<void> {
  if (app.config.environment !== 'live' || !movesMoney(operation)) return;
  const observed = observedWords(account.liveFrom, await databaseNow(app.db));
  if (observed !== null) throw new UsageError(`account ${account.accountId} is ${observed}`);
}
