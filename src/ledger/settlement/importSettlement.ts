// `tieout import settlement`: the acquirer's files through a map, whole or not at all. Lines go to
// where they stay as they are read, so that a file of a million lines needs no more memory than one
// of a thousand, and are taken back where one does not hold; what a line may be is
// core/settlement/settlementLine.ts's, what a batch may be is judged in the database. Neighbours:
// lines/mappedLines.ts reads, lineTaker.ts brings, takenLinesStore.ts has the statements.

import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { CurrencyDecimals } from '../../core/currency.js';
import { UsageError } from '../../core/errors.js';
import type { ColumnMap } from '../../core/mapping/columnMap.js';
import { checkSettlementLine } from '../../core/settlement/settlementLine.js';
import { countText } from '../../core/text/amounts.js';
import type { Database, Tx } from '../../database/db.js';
import type { Account } from '../../gateway/account.js';
import type { Profile } from '../../gateway/document/profile.js';
import { fileDigest, textDigest } from '../imports/filesBefore.js';
import type { ProblemList } from '../imports/importResult.js';
import { MAX_PROBLEMS, problemList } from '../imports/importResult.js';
import { formatOf, type ReadLine, requireFiles } from '../lines/inputText.js';
import { type LeftOut, leftOutWarnings, mappedChunks } from '../lines/mappedLines.js';
import { type CheckedLine, LineTaker } from './lineTaker.js';
import type { SettlementImport } from './settlementResult.js';
import { BATCHES_TOLD_MAX } from './settlementResult.js';
import {
  beginImport,
  countFates,
  countStrangeTimes,
  foundBatches,
  judgeBatches,
  keepFiles,
  undoImport,
} from './takenLinesStore.js';

/** A booking may bear the day on which it is paid; none lies so far ahead. */
const BOOKED_AHEAD_DAYS = 31;

interface SettlementDeps {
  db: Database;
  profile: Profile;
  accounts: readonly Pick<Account, 'accountId'>[];
  /** what was booked before this business date is history */
  since: { from: string; cutOff: string; timezone: string };
}

interface SettlementOptions {
  map: ColumnMap;
  /** Everything but the writing. */
  check: boolean;
}

export async function importSettlement(
  deps: SettlementDeps,
  files: readonly string[],
  options: SettlementOptions,
): Promise<SettlementImport> {
  return deps.db.transaction((tx) => takeSettlement(deps, tx, files, options));
}

/** The same as a part of a transaction of the caller's. */
export async function takeSettlement(
  deps: SettlementDeps,
  tx: Tx,
  files: readonly string[],
  { map, check }: SettlementOptions,
): Promise<SettlementImport> {
  requireFiles(files);
  const other = files.find((file) => formatOf(file) !== 'csv');
  if (other !== undefined) throw new UsageError(`${other}: --map reads CSV`);
  const digests = await Promise.all(files.map(fileDigest));
  const read = { map, problems: problemList(), leftOut: new Map() };
  const bounds = await beginImport(tx, { ...deps.since, aheadDays: BOOKED_AHEAD_DAYS });
  const taker = new LineTaker(tx, bounds);
  let isKept = false;
  try {
    await readLines(deps, files, read, taker);
    const result = await judgedResult(deps, tx, files, { read, taker });
    if (result.kind === 'refused') return result;
    if (!check && result.inserted > 0) {
      const batches = taker.batches.digests();
      await keepFiles(tx, files.map(shownName), {
        ...{ digests, map: textDigest(JSON.stringify(map)), batches },
      });
      isKept = true;
    }
    return { ...result, check };
  } finally {
    await taker.stop();
    // The caller may go on with the transaction, whatever became of the files.
    if (!isKept) await undoImport(tx);
  }
}

interface Reading {
  readonly map: ColumnMap;
  readonly problems: ProblemList;
  readonly leftOut: LeftOut;
}

/** After the first refused line the rest is only judged. */
async function readLines(
  deps: SettlementDeps,
  files: readonly string[],
  { map, problems, leftOut }: Reading,
  taker: LineTaker,
): Promise<void> {
  const known = new Set(deps.accounts.map(({ accountId }) => accountId));
  for (const file of files) {
    let lines = 0;
    const passed = linesIn(leftOut);
    await taker.beginFile(statSync(file).size);
    for await (const chunk of mappedChunks(file, map, leftOut)) {
      lines += chunk.length;
      const checked: CheckedLine[] = [];
      for (const found of chunk) {
        const row = judged(found, known, deps.profile.currencies);
        if (row.kind === 'refused') problems.add(file, found.line, row.problem);
        else checked.push({ line: found.line, row: row.row });
        if (problems.isFull()) return;
      }
      await taker.take(problems.problems.length === 0 ? checked : []);
    }
    const isBare = lines === 0 && linesIn(leftOut) === passed;
    // A last line that holds says itself that there is none.
    if (isBare && map.trailer === null) problems.add(file, 1, NO_LINE);
  }
  await taker.end();
}

function judged(found: ReadLine, known: ReadonlySet<string>, currencies: CurrencyDecimals) {
  if (found.kind === 'problem') return { kind: 'refused' as const, problem: found.problem };
  const row = checkSettlementLine(found.values, currencies);
  if (row.kind === 'refused' || known.has(row.row.accountId)) return row;
  return { kind: 'refused' as const, problem: strangeAccount(row.row.accountId) };
}

/** Cut off, or nothing to tell: what it says of the money is nothing, and nobody is to think it. */
const NO_LINE = 'has no line below the first: get the file once more, or take it away';

const linesIn = (leftOut: LeftOut): number =>
  [...leftOut.values()].reduce((sum, lines) => sum + lines, 0);

function strangeAccount(accountId: string) {
  const reason =
    'is no account of the configuration (if it left, put it back until it is settled; the map ' +
    'may leave its lines out: leaveOutWhen, onlyWhen)';
  return { column: 'account_id', value: accountId, reason };
}

async function judgedResult(
  deps: SettlementDeps,
  tx: Tx,
  files: readonly string[],
  { read, taker }: { read: Reading; taker: LineTaker },
): Promise<SettlementImport> {
  const { problems, leftOut } = read;
  if (problems.problems.length === 0) {
    const { firstIds, batches } = taker;
    const options = { firstIds, mayRepeat: !batches.doAscend, limit: MAX_PROBLEMS };
    for (const row of await judgeBatches(tx, files, options)) {
      problems.add(files[row.file_no] ?? '', Number(row.line_no), row);
    }
  }
  if (problems.problems.length > 0) {
    return { kind: 'refused', problems: problems.problems, more: problems.isFull() };
  }
  return { kind: 'imported', check: false, ...(await tell(deps, tx, leftOut)) };
}

async function tell(deps: SettlementDeps, tx: Tx, leftOut: LeftOut) {
  const fates = await countFates(tx);
  const linesOf = (fate: string) => Number(fates.find((one) => one.fate === fate)?.lines ?? 0n);
  const batchCount = fates.reduce((sum, { batches }) => sum + Number(batches), 0);
  const { history, ahead } = await countStrangeTimes(tx);
  return {
    ...{ inserted: linesOf('inserted'), updated: 0, unchanged: linesOf('unchanged'), skipped: 0 },
    batchCount,
    batches: await foundBatches(tx, BATCHES_TOLD_MAX),
    warnings: [
      ...(batchCount === 0 ? ['the file has no line to take'] : []),
      ...(history === 0n ? [] : [historyWarning(history, deps.since.from)]),
      ...(ahead === 0n
        ? []
        : [`${ahead} booked more than ${BOOKED_AHEAD_DAYS} days ahead: is the year right?`]),
      ...leftOutWarnings(leftOut),
    ],
  };
}

function historyWarning(lines: bigint, from: string): string {
  return (
    `${countText(lines)} booked before ${from} (settlement.from): history, ` +
    'matched where it appears, never missed'
  );
}

/** Folders of this machine are nobody's business; the digest names the file. */
function shownName(file: string): string {
  return basename(file);
}
