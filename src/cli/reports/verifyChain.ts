// `tieout verify` without a date: first what the database is made of is held against what this
// version shipped, then the chain against the facts, then the ends that were signed outside of the
// database against the chain. Exit 1 where any of it is not as it was. Neighbour: verify.ts.

import { resolve } from 'node:path';
import { ownKey, publicPart, readPublicKey } from '../../audit/headsKey.js';
import { headsPath } from '../../audit/signedHeads.js';
import { decisionKeys } from '../../core/decisions/decisionKeys.js';
import { UsageError } from '../../core/errors.js';
import { redactedLine } from '../../core/runs/redaction.js';
import { removedLine } from '../../core/runs/removal.js';
import {
  checkDatabase,
  decisionLines,
  definitionLines,
  headLines,
} from '../../verify/checkDatabase.js';
import { checkHeads, type HeadsFinding } from '../../verify/signedHeadsStore.js';
import type { BrokenLink, ChainFinding } from '../../verify/verifyChainStore.js';
import type { App } from '../app.js';
import { printJson, printLines } from '../context.js';

interface Shipped {
  heads: string | undefined;
  publicKey: string | undefined;
}

export async function verifyChain(app: App, shipped: Shipped, isJson: boolean): Promise<number> {
  const found = await checkDatabase(
    app.db,
    (tx) => headsOf(app, tx, shipped),
    decisionKeys(app.config.decisions),
    (done, total) => app.progress('verify', done, total),
  );
  const { isSound, definitions, checked } = found;
  if (isJson) {
    const rest =
      'problem' in checked ? checked : { ...checked.chain, ...checked, chain: undefined };
    printJson({ whole: isSound, ...rest, definitions });
  } else {
    printLines([
      ...('problem' in checked
        ? [`The chain cannot be checked: ${checked.problem}`]
        : chainLines(checked.chain, checked.head)),
      ...definitionLines(definitions),
      ...('problem' in checked
        ? []
        : [...headLines(checked.heads), ...decisionLines(checked.decisions)]),
    ]);
  }
  return isSound ? 0 : 1;
}

async function headsOf(
  { config }: App,
  tx: Parameters<typeof checkHeads>[0],
  { heads, publicKey }: Shipped,
): Promise<HeadsFinding> {
  const own = headsPath(config.dataDir);
  const ownKeyOf = () => ownKey(config.dataDir);
  if (heads === undefined) return checkHeads(tx, own, ownKeyOf);
  const path = resolve(heads);
  // Of another host's key nothing here tells when its database was put back.
  const found =
    publicKey === undefined
      ? await checkHeads(tx, path, ownKeyOf, own)
      : await checkHeads(tx, path, () => readPublicKey(resolve(publicKey)));
  if (found.lines === null) throw new UsageError(`there is no file ${path}`);
  return found;
}

/** The public half alone; the other one is never told. */
export async function tellPublicKey({ config }: App, isJson: boolean): Promise<number> {
  const pem = publicPart(await ownKey(config.dataDir));
  if (isJson) printJson({ publicKey: pem });
  else printLines(pem.trimEnd().split('\n'));
  return 0;
}

/** For whoever checks what was decided here without being able to decide. */
export async function tellDecisionsKey({ config }: App, isJson: boolean): Promise<number> {
  const publicKey = decisionKeys(config.decisions)?.publicKey ?? null;
  if (publicKey === null) {
    throw new UsageError('decisions.key is not configured: `openssl rand -base64 32` makes one');
  }
  if (isJson) printJson({ publicKey });
  else printLines([publicKey]);
  return 0;
}

function chainLines(found: ChainFinding, head: string): string[] {
  const { chains, links, broken, unsealed, disagreements, removed, redacted } = found;
  const unnamed = redacted.reduce((sum, one) => sum + one.links, -found.redactedLinks.length);
  return [
    broken.length === 0
      ? `The chain is whole: ${links} links in ${chains} chains. It ends in ${head}.`
      : `The chain is broken in ${broken.length} of ${Math.max(chains, 1)} chains.`,
    ...broken.map(brokenLine),
    ...removed.map((one) => `${removedLine(one)}; its digests are in the chain.`),
    ...redacted.map((one) => `${redactedLine(one)}.`),
    ...found.redactedLinks.map(
      ({ accountId, linkNo, what, businessDate, facts }) =>
        `Link ${linkNo} of ${chainName(accountId)} (${what}, sealed with ${businessDate}): its ` +
        `${facts} fact(s) are what they were when words were taken out, by that record alone`,
    ),
    ...(unnamed > 0 ? [`and ${unnamed} older one(s), or named before`] : []),
    ...disagreements.map(
      ({ accountId, orderNo, what, state, history }) =>
        `${what} of ${accountId === '' ? 'this installation' : accountId}` +
        `${orderNo === null ? '' : ` ${orderNo}`} is ${state}, but its history says ` +
        `${history ?? 'nothing'}`,
    ),
    ...unsealed.flatMap(({ accountId, what, facts, strayed }) => [
      ...(strayed > 0
        ? [
            `Links are gone: ${strayed} of kind ${what} (${chainName(accountId)}) bear one that ` +
              'no chain has',
          ]
        : []),
      ...(facts > strayed
        ? [
            `Not sealed yet: ${facts - strayed} of kind ${what} (${chainName(accountId)}); the ` +
              'next run, or decision of the account, seals them',
          ]
        : []),
    ]),
  ];
}

function brokenLine({ accountId, linkNo, what, businessDate, reason }: BrokenLink): string {
  const link = what === null ? '' : ` (${what}, sealed with ${businessDate})`;
  return `Link ${linkNo} of ${chainName(accountId)}${link}: ${reason}`;
}

function chainName(accountId: string): string {
  return accountId === '' ? 'the chain of runs and settings' : `account ${accountId}`;
}
