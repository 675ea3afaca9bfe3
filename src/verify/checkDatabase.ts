// All that can be checked of a database without working a night out again: what it is made of, then
// the chain by what it is made of, then the ends that were signed outside of it; and the first and
// the last of it in words. Neighbours: cli/reports/verifyChain.ts and web/pages/audit.tsx tell.

import { headDigest } from '../core/chain.js';
import type { DecisionKeys } from '../core/decisions/decisionKeys.js';
import { messageOf, TieoutError } from '../core/errors.js';
import type { Database, Db } from '../database/db.js';
import { chainHeads } from '../runs/runRecordStore.js';
import { checkDecisions, type DecisionsFinding } from './decisions/signedDecisionsStore.js';
import type { DefinitionsFinding } from './definitions/definitions.js';
import { checkDefinitions, trustNobodysNames } from './definitions/definitionsStore.js';
import type { HeadsFinding } from './signedHeadsStore.js';
import { atOneMoment, type ChainFinding, checkChain, isWhole } from './verifyChainStore.js';

interface Checked {
  chain: ChainFinding;
  head: string;
  heads: HeadsFinding;
  /** null: no key is configured by which decisions are signed */
  decisions: DecisionsFinding | null;
}

export interface DatabaseFinding {
  isSound: boolean;
  definitions: DefinitionsFinding;
  /** or what the database answered where it was altered so far that nothing could be checked */
  checked: Checked | { problem: string };
}

export async function checkDatabase(
  db: Database,
  headsOf: (tx: Db) => Promise<HeadsFinding>,
  keys: DecisionKeys | null,
  progress: (done: number, total: number) => void = () => {},
): Promise<DatabaseFinding> {
  const definitions = await db.transaction(async (tx) => {
    await trustNobodysNames(tx);
    return checkDefinitions(tx);
  });
  const isAltered = definitions.altered.length > 0;
  const work = db.transaction(async (tx): Promise<Checked> => {
    await atOneMoment(tx);
    await trustNobodysNames(tx);
    // Their file first: what is signed after the database was looked at would not be found there.
    const heads = await headsOf(tx);
    const chain = await checkChain(tx, progress);
    const head = headDigest(await chainHeads(tx));
    const decisions = keys && (await checkDecisions(tx, keys, heads.decisionsFrom));
    return { chain, head, heads, decisions };
  });
  const checked = await work.catch((error: unknown) => {
    // Replaced functions may answer anything; that they were replaced is the finding.
    if (isAltered && !(error instanceof TieoutError)) return { problem: messageOf(error) };
    throw error;
  });
  const isSound =
    !isAltered &&
    !('problem' in checked) &&
    isWhole(checked.chain) &&
    checked.heads.broken.length === 0 &&
    (checked.decisions?.unsigned ?? 0) === 0;
  return { isSound, definitions, checked };
}

export function definitionLines({ altered, compared, notCompared }: DefinitionsFinding): string[] {
  return [
    altered.length === 0
      ? `The tables, guards and functions are those of this version: ${compared} compared.`
      : `The database is not made as this version makes it (${altered.length}): what is said ` +
        'above cannot be relied on.',
    ...altered.map(({ object, problem }) => `The ${object} ${problem}`),
    ...(notCompared === null ? [] : [`Not compared: ${notCompared}.`]),
  ];
}

export function decisionLines(found: DecisionsFinding | null): string[] {
  if (found === null) return [];
  const { signed, before, isAnchored, unsigned, named } = found;
  return [
    unsigned === 0
      ? `Of what people decided ${signed} are signed, and none that had to be is not.`
      : `Not decided through tieout (${unsigned}): no signature that counts.`,
    ...named.map((words) => `Not signed: ${words}`),
    ...(before === 0
      ? []
      : [
          isAnchored
            ? `${before} were decided before there was a key (decisions.key).`
            : `${before} are not signed: no run has ended here since there is a key ` +
              '(decisions.key), so that it is not said which had to be.',
        ]),
  ];
}

export function headLines(found: HeadsFinding): string[] {
  const { path, lines, standing, newest, putBack, broken, torn } = found;
  if (lines === null) {
    return [`No end of a chain was signed here yet: the next run writes the first into ${path}.`];
  }
  const compared = lines - (putBack?.lines ?? 0);
  return [
    `Of ${compared} signed ends of runs ${standing} stand${
      newest === null ? '' : `; the newest is of ${newest.businessDate}`
    } (${path}).`,
    ...broken.map((words) => `Signed otherwise: ${words}`),
    ...(putBack === null
      ? []
      : [
          `The database was put back on ${putBack.at.slice(0, 10)} (${putBack.reason}): the ` +
            `${putBack.lines} ends signed before are told, not compared; ${putBack.standing} of ` +
            'them still stand.',
        ]),
    ...(torn === 0 ? [] : [`${torn} line(s) were never written to their end: not compared.`]),
  ];
}
