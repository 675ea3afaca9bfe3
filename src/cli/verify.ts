// `tieout verify`: is everything that was sealed still there, and does it still say the same? Exit
// 1 where it does not, with the first broken link of each chain.

import { Command } from 'commander';
import { headDigest } from '../core/chain.js';
import { chainHeads } from '../store/audit.js';
import type { BrokenLink, ChainFinding } from '../store/verifyChain.js';
import { checkChain } from '../store/verifyChain.js';
import { printJson, printLines, wantsJson, withApp } from './context.js';

export function verifyCommand(): Command {
  return new Command('verify')
    .option('--json', 'print one JSON document')
    .action(async (_flags: object, command: Command) => {
      await withApp(command, async (app) => {
        const found = await checkChain(app.db, (done, total) =>
          app.progress('verify', done, total),
        );
        const head = headDigest(await chainHeads(app.db));
        const isWhole = found.broken.length === 0 && found.disagreements.length === 0;
        if (wantsJson(command)) printJson({ whole: isWhole, head, ...found });
        else printLines(chainLines(found, head));
        return isWhole ? 0 : 1;
      });
    });
}

function chainLines(found: ChainFinding, head: string): string[] {
  const { chains, links, broken, unsealed, disagreements } = found;
  return [
    broken.length === 0
      ? `The chain is whole: ${links} links in ${chains} chains. It ends in ${head}.`
      : `The chain is broken in ${broken.length} of ${chains} chains.`,
    ...broken.map(brokenLine),
    ...disagreements.map(
      ({ accountId, orderNo, what, state, history }) =>
        `${what} of ${accountId} ${orderNo ?? ''} is ${state}, but its history says ` +
        `${history ?? 'nothing'}`,
    ),
    ...unsealed.map(
      ({ accountId, what, facts }) =>
        `Not sealed yet: ${facts} of kind ${what} (${chainName(accountId)}); the next run, or ` +
        'decision of the account, seals them',
    ),
  ];
}

function brokenLine({ accountId, linkNo, what, businessDate, reason }: BrokenLink): string {
  const link = what === null ? '' : ` (${what}, sealed with ${businessDate})`;
  return `Link ${linkNo} of ${chainName(accountId)}${link}: ${reason}`;
}

function chainName(accountId: string): string {
  return accountId === '' ? 'the chain of runs and settings' : `account ${accountId}`;
}
