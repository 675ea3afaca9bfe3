// The manifest of a workbook: digests of what it was made from, where the chain ended then, and the
// workbook of the run before. Each can be asked for again later; what differs then is named. The
// rows of the file of all orders are added up while it is written. Neighbour: verifyWorkbook.ts.

import { headDigest } from '../core/chain.js';
import { orderRowDigest } from '../core/rowDigest.js';
import type { Database, Db } from '../database/db.js';
import { chainHeads } from '../runs/runRecordStore.js';
import type { Digests, KnownReport } from './keptReportsStore.js';
import {
  figuresWithUnwritten,
  hasReport,
  linksAt,
  previousWorkbook,
  runDigests,
} from './keptReportsStore.js';
import { orderRows } from './reportRowsStore.js';

const CHAIN = 'chain';
const RUN_BEFORE = 'workbook of the night before';
const ORDERS = 'orders';
const FIGURES = 'figures';
/** Worked out from what snapshots brought: gone when that is. */
const OF_SNAPSHOTS = [ORDERS, 'verdicts'];

/** What stands in a file that is about to be made. */
export async function manifestOf(db: Db, runId: bigint): Promise<Digests> {
  const [heads, before, digests] = await Promise.all([
    chainHeads(db),
    previousWorkbook(db, runId),
    runDigests(db, runId),
  ]);
  const ends = heads.map(({ accountId, linkNo }) => [accountId, Number(linkNo)]);
  return {
    ...digests,
    [CHAIN]: `${headDigest(heads)} ${JSON.stringify(Object.fromEntries(ends))}`,
    ...(before === null ? {} : { [RUN_BEFORE]: before }),
  };
}

/** What can still be asked for when the snapshots of the run were removed. */
export function withoutSnapshots(digests: Digests): Digests {
  return Object.fromEntries(
    Object.entries(digests).filter(([name]) => !OF_SNAPSHOTS.includes(name)),
  );
}

/** Where the chain ended, and the workbook of the run before, as a file is to say it. */
export function originsOf(digests: Digests): {
  chainHead: string;
  previousWorkbook: string | null;
} {
  const [chainHead = ''] = (digests[CHAIN] ?? '').split(' ');
  return { chainHead, previousWorkbook: digests[RUN_BEFORE] ?? null };
}

/** The same as the database has it now: of each digest that the file was made with. */
export async function manifestNow(
  db: Database,
  { runId, digests }: Pick<KnownReport, 'runId' | 'digests'>,
): Promise<Digests> {
  const now: Record<string, string> = { ...(await runDigests(db, runId)) };
  const { [CHAIN]: chain, [RUN_BEFORE]: before, [ORDERS]: orders, [FIGURES]: figures } = digests;
  if (figures !== undefined && figures !== now[FIGURES]) {
    const then = await figuresWithUnwritten(db, runId);
    if (then === figures) now[FIGURES] = then;
  }
  if (chain !== undefined) now[CHAIN] = await chainAsThen(db, chain);
  if (before !== undefined && (await hasReport(db, before))) now[RUN_BEFORE] = before;
  if (orders !== undefined) now[ORDERS] = await orderRowsNow(db, runId);
  return now;
}

/** Links that are gone or rewritten make another digest; links that came later make none. */
async function chainAsThen(db: Db, then: string): Promise<string> {
  const ends = then.slice(then.indexOf(' ') + 1);
  const links = JSON.parse(ends) as Record<string, number>;
  return `${headDigest(await linksAt(db, links))} ${ends}`;
}

async function orderRowsNow(db: Database, runId: bigint): Promise<string> {
  const digest = orderRowDigest();
  for await (const rows of orderRows(db, runId)) digest.add(rows);
  return digest.end();
}
