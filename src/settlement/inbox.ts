// The folder whose files are imported by themselves (`settlement.inbox`). Looked into by whoever
// runs the clock: a file that is the same at two looks is taken, in one transaction with the word
// that it was refused, and moved after its commit. Killed between the two, it is found again, known
// by its batches, and moved. Neighbours: core/settlement/inboxFile.ts says what is ready,
// importAndSettle.ts takes it, putAway.ts moves it.

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { loadColumnMap } from '../config/mapFile.js';
import { InputError, messageOf, UnreachableError, UsageError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { InboxFacts } from '../core/settlement/inboxFile.js';
import {
  INBOX_FILE_BYTES_MAX,
  INBOX_FILES_A_LOOK_MAX,
  isLeftAlone,
  mapFor,
  markOf,
} from '../core/settlement/inboxFile.js';
import type { Database, Tx } from '../database/db.js';
import { formatSettlement } from '../ledger/settlement/settlementResult.js';
import { tellFileRefused } from '../outbox/writeAlerts.js';
import type { TakeDeps } from './importAndSettle.js';
import { settleTaken, takeInside } from './importAndSettle.js';
import { folderFacts } from './inboxFolder.js';
import { inboxAlone } from './inboxStore.js';
import type { Taken } from './putAway.js';
import { putAway } from './putAway.js';
import type { SettlementRules } from './settlement.js';
import { settlementRules } from './settlement.js';

interface InboxDeps {
  db: Database;
  config: Config;
  log: Log;
  now: () => Date;
}

interface Place {
  readonly rules: SettlementRules;
  readonly inbox: string;
}

/** Told what is done from now on, to whoever has to say what a look waits for. */
type AtWork = (what: string) => void;

/** Answers a look, which remembers what the one before it saw. */
export function openInbox(deps: InboxDeps): (atWork?: AtWork) => Promise<void> {
  const rules = settlementRules(deps.config);
  const inbox = rules?.settings.inbox ?? null;
  if (rules === null || inbox === null) return async () => {};
  let before: ReadonlyMap<string, string> = new Map();
  return async (atWork = () => {}) => {
    atWork('its folder does not answer: is it on a share that is away?');
    const { facts: all } = await folderFacts(inbox);
    const found = all.filter((facts) => !isLeftAlone(facts));
    const ready = found.filter((facts) => before.get(facts.name) === markOf(facts));
    before = new Map(found.map((facts) => [facts.name, markOf(facts)]));
    const failures: unknown[] = [];
    for (const facts of ready.slice(0, INBOX_FILES_A_LOOK_MAX)) {
      const taken = takeFile(deps, { rules, inbox }, facts, atWork);
      await taken.catch((error) => failures.push(error));
    }
    // One that cannot be moved keeps no other waiting.
    if (failures.length > 0) throw failures[0];
  };
}

async function takeFile(
  deps: InboxDeps,
  place: Place,
  facts: InboxFacts,
  atWork: AtWork,
): Promise<void> {
  atWork(`${facts.name} is still being taken into the database`);
  const taken = await takenAlone(deps, place, facts);
  if (taken === null) return;
  atWork(`what ${facts.name} brought is still being matched in the database`);
  if (taken.kind === 'done') await settleTaken(takeDeps(deps, place));
  const isMoved = await deps.db.transaction(async (tx) => {
    if (!(await inboxAlone(tx)) || !(await isSame(place.inbox, facts))) return false;
    await putAway(place.inbox, facts.name, taken);
    return true;
  });
  if (!isMoved) return;
  deps.log(`inbox: ${facts.name}: ${taken.words.split('\n', 1)[0]}`);
  const warnings = taken.kind === 'done' ? taken.warnings : [];
  for (const warning of warnings) deps.log(`inbox: ${facts.name}: warning: ${warning}`);
}

function takeDeps(deps: InboxDeps, { rules }: Place): TakeDeps {
  return { ...deps, rules, accountIds: deps.config.accounts.map(({ accountId }) => accountId) };
}

/** null: another clock is at it, or the file is another one by now. */
async function takenAlone(deps: InboxDeps, place: Place, facts: InboxFacts): Promise<Taken | null> {
  const alone = (work: (tx: Tx) => Promise<Taken>): Promise<Taken | null> =>
    deps.db.transaction(async (tx) => {
      if (!(await inboxAlone(tx)) || !(await isSame(place.inbox, facts))) return null;
      const taken = await work(tx);
      if (taken.kind === 'refused') await tellRefused(deps, tx, facts, taken.words);
      return taken;
    });
  try {
    return await alone((tx) => judged(deps, tx, place, facts));
  } catch (error) {
    // A database that is away refuses no file; what else fails would fail at every look.
    if (error instanceof UnreachableError) throw error;
    const words = `it could not be taken: ${messageOf(error)}`;
    return await alone(async () => ({ kind: 'refused', words }));
  }
}

async function judged(
  deps: InboxDeps,
  tx: Tx,
  place: Place,
  { name, size }: InboxFacts,
): Promise<Taken> {
  if (size > INBOX_FILE_BYTES_MAX) {
    return { kind: 'refused', words: `it is larger than ${INBOX_FILE_BYTES_MAX} bytes` };
  }
  const map = mapFor(place.rules.settings.files, name);
  if (map === null) {
    return { kind: 'refused', words: 'no entry of settlement.files has a name that fits it' };
  }
  try {
    const options = { map: loadColumnMap(map, 'settlement'), check: false };
    const file = join(place.inbox, name);
    const result = await takeInside(takeDeps(deps, place), tx, [file], options);
    const words = formatSettlement(result);
    if (result.kind === 'refused') return { kind: 'refused', words };
    return { kind: 'done', words, warnings: result.warnings };
  } catch (error) {
    if (!(error instanceof InputError || error instanceof UsageError)) throw error;
    return { kind: 'refused', words: error.message };
  }
}

/** The first lines say enough; all of them lie beside the file. */
const TOLD_LINES = 2;

async function tellRefused(
  { config }: InboxDeps,
  tx: Tx,
  facts: InboxFacts,
  words: string,
): Promise<void> {
  const reason = words
    .split('\n', TOLD_LINES)
    .map((line) => line.trim())
    .join('; ');
  await tellFileRefused(tx, config, { name: facts.name, reason, mark: markOf(facts) });
}

async function isSame(inbox: string, facts: InboxFacts): Promise<boolean> {
  const now = await factsOf(inbox, facts.name);
  return now?.isPlain === true && markOf(now) === markOf(facts);
}

/** null: somebody has taken it away. */
async function factsOf(inbox: string, name: string): Promise<InboxFacts | null> {
  try {
    const found = await lstat(join(inbox, name));
    const [isPlain, isFolder] = [found.isFile(), found.isDirectory()];
    return { name, isPlain, isFolder, size: found.size, modifiedMs: found.mtimeMs };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

export interface InboxFigures {
  /** files that wait for the next looks, or are still being written */
  readonly waiting: number;
  readonly refused: number;
  /** a link or a folder, which nobody follows */
  readonly strange: readonly string[];
}

const FOLDERS: ReadonlySet<string> = new Set(['done', 'refused']);

/** What lies there now, for doctor and monitors; throws where the folder cannot be read. */
export async function inboxFigures(inbox: string): Promise<InboxFigures> {
  const { facts: found, refused } = await folderFacts(inbox);
  return {
    waiting: found.filter(({ isPlain }) => isPlain).length,
    refused: refused.filter((name) => !name.endsWith('.reason.txt')).length,
    strange: found
      .filter(({ name, isPlain, isFolder }) => !isPlain && !(isFolder && FOLDERS.has(name)))
      .map(({ name }) => name),
  };
}
