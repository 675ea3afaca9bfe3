// The one way in which lines of files become rows of a ledger table: read, check, stage, decide,
// write, in one transaction, so that all lines of all files are taken or none. Memory is flat: it
// holds one batch of lines. It knows no table by itself. Neighbours: importOrders.ts and
// importRefunds.ts describe theirs; csvLines.ts and ndjsonLines.ts read.

import { InputError, UsageError } from '../../core/errors.js';
import type { Column, RawLine, RowCheck } from '../../core/ledger/ledgerRow.js';
import type { ColumnMap } from '../../core/mapping/columnMap.js';
import { andMore, countText } from '../../core/text/amounts.js';
import type { Database, Db } from '../../database/db.js';
import type { Account } from '../../gateway/account.js';
import type { Profile } from '../../gateway/document/profile.js';
import { databaseNow, ledgerRelation } from '../ledgerStore.js';
import { csvLines } from '../lines/csvLines.js';
import type { ReadLine } from '../lines/inputText.js';
import { formatOf, requireFiles } from '../lines/inputText.js';
import { type LeftOut, leftOutWarnings, mappedLines } from '../lines/mappedLines.js';
import { ndjsonLines } from '../lines/ndjsonLines.js';
import { type FileBefore, filesBefore, knownWarnings, rememberFiles } from './filesBefore.js';
import type { ImportCounts, ImportResult, ProblemList } from './importResult.js';
import { MAX_PROBLEMS, problemList, refusal } from './importResult.js';

export interface ImportDeps {
  db: Database;
  profile: Profile;
  accounts: readonly Pick<
    Account,
    'merchantId' | 'accountId' | 'signingKey' | 'previousSigningKey'
  >[];
}

export interface ImportOptions {
  /** Everything but the writing. */
  check: boolean;
  /** What is older than the ledger, and what was imported before, is taken all the same. */
  allowOlder?: boolean;
  /** The files are a shop's own export: which column is what. */
  map?: ColumnMap;
}

/** One value of a staged column; pg turns bigint into its digits. */
type StagedValue = string | number | bigint | null;

export interface TableImport<Row extends { readonly accountId: string }> {
  readonly table: 'orders' | 'refund_requests' | 'payout_requests' | 'disputes';
  readonly columns: readonly Column[];
  /** The column that, with account_id, is the key. */
  readonly keyColumn: string;
  readonly checkLine: (line: RawLine, profile: Profile, now: Date) => RowCheck<Row>;
  /** In the order of the staging table, after file_no, line_no and given. */
  readonly stagedValues: (row: Row) => readonly StagedValue[];
  readonly statements: Statements;
  /** What `refused` is asked with, after the limit and whether older lines are taken. */
  readonly refusedValues: (profile: Profile) => readonly unknown[];
  readonly warningsOf: (tx: Db, profile: Profile) => Promise<string[]>;
}

export type Statements = Readonly<
  Record<'create' | 'stage' | 'analyze' | 'repeated' | 'lock' | 'fate' | 'counts' | 'apply', string>
> & {
  /** null: a line that was read and staged is never refused */
  readonly refused: string | null;
};

/** Lines sent to the database at once, and so the lines held in memory. */
const BATCH_LINES = 2_000;

/** Accounts named in the warning about unknown ones. */
const NAMED_ACCOUNTS = 5;

export async function importTable<Row extends { readonly accountId: string }>(
  deps: ImportDeps,
  spec: TableImport<Row>,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportResult> {
  requireFiles(files);
  for (const file of files) {
    if (formatOf(file) !== 'csv' && options.map) {
      throw new UsageError(`${file}: --map reads CSV`);
    }
  }
  const leftOut: LeftOut = new Map();
  const allowOlder = options.allowOlder ?? false;
  return deps.db.transaction(async (tx) => {
    await requireTable(tx, spec.table);
    const before = await filesBefore(tx, spec.table, files, options);
    await tx.query(spec.statements.create);
    const problems = problemList();
    const lines = (file: string): AsyncGenerator<ReadLine> =>
      options.map ? mappedLines(file, options.map, leftOut) : linesOf(file, spec.columns);
    const now = await databaseNow(tx);
    const staged = await stageFiles(deps, tx, spec, files, { lines, problems, before, now });
    if (problems.problems.length > 0) return refusal(problems);
    await tx.query(spec.statements.analyze);
    await refuseRepeated(tx, spec, files, problems);
    if (problems.problems.length > 0) return refusal(problems);
    // From here to the end no other import may write, or the counts would not be true.
    await tx.query(spec.statements.lock);
    await tx.query(spec.statements.fate, spec.statements.fate.includes('$1') ? [allowOlder] : []);
    await refuseChanges(deps, tx, spec, files, { problems, allowOlder });
    if (problems.problems.length > 0) return refusal(problems);
    const counts = withKnown(await countFates(tx, spec.statements.counts), before);
    const warnings = [
      ...knownWarnings(before),
      ...unknownAccountWarnings(staged.unknownAccounts),
      ...leftOutWarnings(leftOut),
      ...(await spec.warningsOf(tx, deps.profile)),
    ];
    if (!options.check) {
      await tx.query(spec.statements.apply);
      await rememberFiles(tx, before, staged.lines);
    }
    return { kind: 'imported', check: options.check, ...counts, warnings };
  });
}

/** Only a table of ours is written: a view belongs to the merchant, its source is elsewhere. */
export async function requireTable(tx: Db, table: string): Promise<void> {
  const kind = await ledgerRelation(tx, table);
  if (kind === 'table') return;
  throw new InputError(
    kind === 'missing'
      ? `the database has no ledger.${table}: run \`tieout migrate up\``
      : `ledger.${table} is a view: what it shows is changed at its source, not by an import`,
  );
}

/** Lines of a file that is known are neither read nor judged: they change nothing. */
function withKnown(counts: ImportCounts, before: readonly FileBefore[]): ImportCounts {
  const known = before.reduce((sum, file) => sum + (file.known?.lines ?? 0), 0);
  return { ...counts, unchanged: counts.unchanged + known };
}

interface Reading {
  readonly lines: (file: string) => AsyncGenerator<ReadLine>;
  readonly problems: ProblemList;
  readonly before: readonly FileBefore[];
  /** of the database, which judges the rows of views by it, too */
  readonly now: Date;
}

interface Staged {
  /** how many lines each unknown account has */
  readonly unknownAccounts: Map<string, number>;
  /** how many lines each file has */
  readonly lines: number[];
}

/** Reads and stages every line of the files that are not known. */
async function stageFiles<Row extends { readonly accountId: string }>(
  deps: ImportDeps,
  tx: Db,
  spec: TableImport<Row>,
  files: readonly string[],
  { lines, problems, before, now }: Reading,
): Promise<Staged> {
  const known = new Set(deps.accounts.map(({ accountId }) => accountId));
  const unknownAccounts = new Map<string, number>();
  const staged: Staged = { unknownAccounts, lines: files.map(() => 0) };
  const batch = batchOf(tx, spec.statements.stage);
  const optional = spec.columns.filter(({ nullable }) => nullable).map(({ name }) => name);
  for (const [fileNo, file] of files.entries()) {
    if (before[fileNo]?.known) continue;
    for await (const found of lines(file)) {
      const row = acceptedRow(deps, spec, file, found, { problems, now });
      if (problems.isFull()) return staged;
      // After the first refused line the rest is only read, so that all problems are named.
      if (row === null || found.kind !== 'line' || problems.problems.length > 0) continue;
      const { accountId } = row;
      if (!known.has(accountId))
        unknownAccounts.set(accountId, (unknownAccounts.get(accountId) ?? 0) + 1);
      const given = givenBits(found.values, optional);
      await batch.add([fileNo, found.line, given, ...spec.stagedValues(row)]);
      staged.lines[fileNo] = (staged.lines[fileNo] ?? 0) + 1;
    }
  }
  await batch.flush();
  return staged;
}

function linesOf(file: string, columns: readonly Column[]): AsyncGenerator<ReadLine> {
  return formatOf(file) === 'csv' ? csvLines(file, columns) : ndjsonLines(file, columns);
}

/** The row of a line; null where it is refused, which the list of problems then says. */
function acceptedRow<Row extends { readonly accountId: string }>(
  deps: ImportDeps,
  spec: TableImport<Row>,
  file: string,
  found: ReadLine,
  { problems, now }: Pick<Reading, 'problems' | 'now'>,
): Row | null {
  if (found.kind === 'problem') {
    problems.add(file, found.line, found.problem);
    return null;
  }
  const check = spec.checkLine(found.values, deps.profile, now);
  if (check.kind === 'ok') return check.row;
  problems.add(file, found.line, check.problem);
  return null;
}

/** Collects lines and sends them column by column, one array each. */
export function batchOf(tx: Db, stage: string) {
  let columns: StagedValue[][] = [];
  const flush = async (): Promise<void> => {
    if (columns.length === 0) return;
    const full = columns;
    columns = [];
    await tx.query(stage, full);
  };
  return {
    flush,
    async add(values: readonly StagedValue[]): Promise<void> {
      if (columns.length === 0) columns = values.map(() => []);
      for (let at = 0; at < values.length; at += 1) columns[at]?.push(values[at] ?? null);
      if ((columns[0]?.length ?? 0) >= BATCH_LINES) await flush();
    },
  };
}

/** A bit for each nullable column that the line has, be it empty. */
function givenBits(line: RawLine, optional: readonly string[]): number {
  let bits = 0;
  for (const [at, name] of optional.entries()) if (name in line) bits |= 1 << at;
  return bits;
}

async function refuseRepeated(
  tx: Db,
  spec: Pick<TableImport<never>, 'statements' | 'keyColumn'>,
  files: readonly string[],
  problems: ProblemList,
): Promise<void> {
  const { rows } = await tx.query<{
    file_no: number;
    line_no: bigint;
    value: string;
    first_file: number;
    first_line: bigint;
  }>(spec.statements.repeated, [MAX_PROBLEMS]);
  for (const row of rows) {
    const elsewhere = row.first_file === row.file_no ? '' : ` of ${files[row.first_file]}`;
    const reason = `is already in line ${row.first_line}${elsewhere}`;
    const problem = { column: spec.keyColumn, value: row.value, reason };
    problems.add(files[row.file_no] ?? '', Number(row.line_no), problem);
  }
}

async function refuseChanges(
  deps: ImportDeps,
  tx: Db,
  spec: Pick<TableImport<never>, 'statements' | 'refusedValues'>,
  files: readonly string[],
  { problems, allowOlder }: { problems: ProblemList; allowOlder: boolean },
): Promise<void> {
  if (spec.statements.refused === null) return;
  const values = [MAX_PROBLEMS, allowOlder, ...spec.refusedValues(deps.profile)];
  const { rows } = await tx.query<{
    file_no: number;
    line_no: bigint;
    column: string;
    value: string;
    reason: string;
  }>(spec.statements.refused, values);
  for (const row of rows) problems.add(files[row.file_no] ?? '', Number(row.line_no), row);
}

export async function countFates(tx: Db, statement: string): Promise<ImportCounts> {
  const { rows } = await tx.query<{ fate: string; lines: bigint }>(statement);
  const of = (fate: string): number => Number(rows.find((row) => row.fate === fate)?.lines ?? 0);
  return {
    inserted: of('inserted'),
    updated: of('updated'),
    unchanged: of('unchanged'),
    skipped: of('skipped'),
  };
}

export function unknownAccountWarnings(unknownAccounts: ReadonlyMap<string, number>): string[] {
  if (unknownAccounts.size === 0) return [];
  const lines = [...unknownAccounts.values()].reduce((sum, count) => sum + count, 0);
  const names = [...unknownAccounts.keys()].slice(0, NAMED_ACCOUNTS).join(', ');
  const more = andMore(unknownAccounts.size - NAMED_ACCOUNTS);
  return [
    `${countText(lines)} of an account that the configuration does not have: ${names}${more}`,
  ];
}
