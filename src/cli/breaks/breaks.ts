// `tieout breaks list|show|note|assign|waive|reopen`: what differs, since when, whose it is, and
// what people decide about it. Filters name one set for a list as for a decision. The decisions
// themselves are breaks/decideBreaks.ts's.

import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import type { BreakFilter, BreakGroup, FoundBreak } from '../../breaks/breaksStore.js';
import {
  BREAK_GROUPS,
  breakLife,
  countBreaks,
  countUpTo,
  findBreaks,
} from '../../breaks/breaksStore.js';
import { DECIDED_MAX, decideBreaks } from '../../breaks/decideBreaks.js';
import {
  refundsBehindExplained,
  toleratedRows,
  toleratedSums,
} from '../../breaks/explainedStore.js';
import type { AgeClock } from '../../core/breaks/breakAge.js';
import type { BreakAction, BreakState } from '../../core/breaks/breakDecision.js';
import { breakFields, breakSentence } from '../../core/breaks/sentence.js';
import { decimalsOf } from '../../core/currency.js';
import { UsageError } from '../../core/errors.js';
import type { LostPermit } from '../../instructions/instructionListStore.js';
import { lostPermitsOfOrder } from '../../instructions/instructionListStore.js';
import type { RefundRequestRow } from '../../ledger/refundRequestsStore.js';
import { refundRequestsOf } from '../../ledger/refundRequestsStore.js';
import { newestRun } from '../../runs/runsStore.js';
import { checkNamed } from '../accounts.js';
import type { App } from '../app.js';
import { deciderHere, printJson, printLines, wantsJson, withApp } from '../context.js';
import { lostLine } from '../instructions/instructionText.js';
import { moreLines } from '../terminal.js';
import type { BreakFlags } from './breakFilter.js';
import { breakIds, filterOf, filterOptions, filterWords } from './breakFilter.js';
import {
  breakLines,
  explainedLines,
  groupLines,
  lifeLines,
  refundLines,
  totalLine,
  verdictJson,
  verdictLines,
} from './breaksText.js';

const LISTED_MAX = 10_000;
const LISTED_DEFAULT = 200;
/** A count of groups stops here. */
const GROUPS_MAX = 100_000;
const LIMIT_WORDS = `at most so many (default: ${LISTED_DEFAULT}, as JSON ${LISTED_MAX})`;

export function breaksCommand(): Command {
  const root = new Command('breaks').description('what differs, whose it is, what was decided');
  filterOptions(root.command('list', { isDefault: true }))
    .description('open breaks, oldest first; with --group put together by what they share')
    .option('--explained', 'what the tolerance of the newest night swallowed, with its money')
    .option('--group <by>', BREAK_GROUPS.join(', '))
    .option('--limit <n>', LIMIT_WORDS)
    .option('--offset <n>', 'leave out the first so many', '0')
    .option('--json', 'print one JSON document')
    .action(async (flags: ListFlags, command: Command) => {
      await withApp(command, (app) => list(app, flags, wantsJson(command)), { quiet: true });
    });
  root
    .command('show')
    .argument('<break>', 'its number')
    .description('one break: both sides field by field, and its whole life')
    .option('--json', 'print one JSON document')
    .action(async (id: string, _flags: object, command: Command) => {
      await withApp(command, (app) => show(app, id, wantsJson(command)), { quiet: true });
    });
  deciding(root, 'note', 'write a note to breaks')
    .requiredOption('--text <words>', 'the note')
    .action(decision((flags) => ({ kind: 'note', text: flags.text ?? '' })));
  deciding(root, 'assign', 'say who looks after breaks')
    .option('--to <name>', 'their owner; without it: nobody')
    .action(decision((flags) => ({ kind: 'assign', owner: flags.to ?? null })));
  deciding(root, 'waive', 'accept breaks as they are; above a limit a second person has to agree')
    .requiredOption('--reason <words>', 'why')
    .action(decision((flags) => ({ kind: 'waive', reason: flags.reason ?? '' })));
  deciding(root, 'reopen', 'take waivers back, or refuse one that waits for a second person')
    .requiredOption('--reason <words>', 'why')
    .action(decision((flags) => ({ kind: 'reopen', reason: flags.reason ?? '' }), ['waived']));
  return root;
}

interface ListFlags extends BreakFlags {
  explained?: boolean;
  group?: string;
  limit?: string;
  offset: string;
}

interface DecisionFlags extends BreakFlags {
  text?: string;
  note?: string;
  reason?: string;
  to?: string;
  check?: boolean;
}

function deciding(root: Command, name: string, about: string): Command {
  const command = root
    .command(name)
    .argument('[break...]', 'their numbers; without any: all that the filters name')
    .description(about);
  // `--text` is the note itself there.
  filterOptions(command, name === 'note' ? ['text'] : [])
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--check', 'say what would happen, change nothing')
    .option('--json', 'print one JSON document');
  return command;
}

function decision(
  actionOf: (flags: DecisionFlags) => BreakAction,
  states: readonly BreakState[] = ['open'],
) {
  return async (ids: string[], flags: DecisionFlags, command: Command): Promise<void> => {
    const action = actionOf(flags);
    const { text, ...others } = flags;
    const wanted = action.kind === 'note' ? others : flags;
    await withApp(
      command,
      async (app) => {
        const filter = filterOf(wanted, clockOf(app), states);
        const words = filterWords(wanted);
        const chosen = await chosenIds(app, ids, filter, words);
        const who = await deciderHere(command, app);
        const deps = { db: app.db, config: app.config, now: () => new Date(), newId: randomUUID };
        const over = ids.length > 0 ? null : words;
        const check = flags.check === true;
        const rows = await decideBreaks(deps, { ids: chosen, action, who, over, check });
        if (wantsJson(command))
          printJson({ check, decidedBy: who, over, rows: rows.map(verdictJson) });
        else printLines(verdictLines(rows, check));
        return rows.some((row) => row.kind === 'refused') || rows.length < chosen.length ? 1 : 0;
      },
      { quiet: true },
    );
  };
}

/** The breaks that are named, or all that the filters find; never all there are by mistake. */
async function chosenIds(
  app: App,
  ids: readonly string[],
  filter: BreakFilter,
  words: string,
): Promise<string[]> {
  if (ids.length > 0) {
    if (words !== '') throw new UsageError('give numbers of breaks or filters, not both');
    const found = await findBreaks(
      app.db,
      { ids: breakIds(ids) },
      { limit: ids.length, offset: 0 },
    );
    const known = new Set(found.map((one) => one.breakId));
    const missing = breakIds(ids).filter((id) => !known.has(id));
    if (missing.length > 0) throw new UsageError(`there is no break ${missing.join(', ')}`);
    return breakIds(ids);
  }
  if (words === '') throw new UsageError('name breaks by number, or choose them by a filter');
  await checkFilter(app, filter);
  const found = await findBreaks(app.db, filter, { limit: DECIDED_MAX + 1, offset: 0 });
  return found.map((one) => one.breakId);
}

/** A mistyped account or currency is said; one that only old breaks have is none. */
async function checkFilter(app: App, { accountIds, currency }: BreakFilter): Promise<void> {
  const hasRows = async (filter: BreakFilter) => (await countUpTo(app.db, filter, 1)) > 0;
  await checkNamed(app, accountIds ?? undefined, (one) => hasRows({ accountIds: [one] }));
  if (currency == null) return;
  const { currencies } = app.config.gateway.profile;
  const isKnown = decimalsOf(currency, currencies) !== null || (await hasRows({ currency }));
  if (!isKnown) {
    throw new UsageError(`--currency ${currency}: no such currency, and no break has it`);
  }
}

function clockOf({ config }: App): AgeClock {
  return { at: new Date(), timezone: config.schedule.timezone };
}

async function list(app: App, flags: ListFlags, json: boolean): Promise<number> {
  const clock = clockOf(app);
  const filter = filterOf(flags, clock, ['open']);
  if (flags.explained === true) return explained(app, flags, json);
  await checkFilter(app, filter);
  const page = pageOf(flags, json);
  const [all] = await countBreaks(app.db, filter, null, clock, 1);
  if (flags.group !== undefined) {
    const group = groupOf(flags.group);
    const found = await countBreaks(app.db, filter, group, clock, GROUPS_MAX);
    const groups = found.slice(0, page.limit);
    const rest = found.length - groups.length;
    const more = moreLines(rest, '--limit', found.length === GROUPS_MAX);
    if (json) printJson({ asOf: clock.at, total: all ?? null, group, groups });
    else printLines([totalLine(all, filter), ...groupLines(groups, group, clock), ...more]);
    if (json) for (const line of more) process.stderr.write(`${line}\n`);
    return 0;
  }
  const found = await findBreaks(app.db, filter, page);
  if (json)
    printJson({ asOf: clock.at, total: all ?? null, breaks: found.map((one) => told(one)) });
  else {
    const rest = (all?.breaks ?? 0) - page.offset - found.length;
    const more = moreLines(rest, '--limit, --offset, or --group cause');
    printLines([totalLine(all, filter), ...breakLines(found, clock), ...more]);
  }
  return 0;
}

async function explained(app: App, flags: ListFlags, json: boolean): Promise<number> {
  if (filterWords(flags) !== '') throw new UsageError('--explained takes no filters');
  const run = await newestRun(app.db);
  if (run === null) throw new UsageError('no night has run yet');
  const page = pageOf(flags, json);
  const sums = await toleratedSums(app.db, run.runId);
  const rows = await toleratedRows(app.db, run.runId, page);
  const refunds = await refundsBehindExplained(app.db, run.runId, app.config.accounts);
  if (json) printJson({ run: run.businessDate, sums, rows, refunds });
  else printLines(explainedLines(run.businessDate, sums, rows, refunds, page.offset));
  return 0;
}

async function show(app: App, id: string, json: boolean): Promise<number> {
  const [found] = await findBreaks(app.db, { ids: breakIds([id]) }, { limit: 1, offset: 0 });
  if (found === undefined) throw new UsageError(`there is no break ${id}`);
  const life = await breakLife(app.db, found.breakId);
  const refundRequests = await refundsBehind(app, found);
  const lostPermits = await lostBehind(app, found);
  if (json) {
    const fields = breakFields(found.expected, found.actual);
    const events = life.map(({ currency: _currency, amount: _amount, ...event }) => event);
    printJson({ ...told(found), fields, refundRequests, lostPermits, life: events });
  } else {
    const refunds = [...refundLines(found, refundRequests), ...lostPermits.map(lostLine)];
    const lines = [...breakLines([found], clockOf(app)), '', ...refunds];
    printLines([...lines, ...lifeLines(found, life)]);
  }
  return 0;
}

/** What the compare held against the gateway's state, where that is the refunds. */
async function refundsBehind(app: App, found: FoundBreak): Promise<RefundRequestRow[]> {
  if (found.kind !== 'refund_mismatch') return [];
  const { accountId, orderNo } = found;
  const account = app.config.accounts.find((one) => one.accountId === accountId);
  return refundRequestsOf(app.db, accountId, orderNo, account?.liveFrom ?? null);
}

/** What a journal says we sent, perhaps, and a database that was put back has forgotten. */
async function lostBehind(app: App, found: FoundBreak): Promise<LostPermit[]> {
  if (found.kind !== 'refund_mismatch') return [];
  return lostPermitsOfOrder(app.db, found.accountId, found.orderNo);
}

function told({ seen: _seen, last: _last, ...found }: FoundBreak) {
  const { kind, expected, actual, settledRefunds, refused } = found;
  return {
    ...found,
    sentence: breakSentence(kind, expected, actual, settledRefunds ?? [], refused),
  };
}

function groupOf(name: string): BreakGroup {
  const group = BREAK_GROUPS.find((one) => one === name);
  if (group === undefined) throw new UsageError(`--group must be ${BREAK_GROUPS.join(', ')}`);
  return group;
}

/** A program that takes a part of it for all decides wrongly; a person is told of the rest. */
function pageOf({ limit, offset }: ListFlags, json: boolean): { limit: number; offset: number } {
  const most = limit ?? String(json ? LISTED_MAX : LISTED_DEFAULT);
  return { limit: count(most, 'limit'), offset: count(offset, 'offset') };
}

function count(text: string, name: string): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= 0 && number <= LISTED_MAX * 100)) {
    throw new UsageError(`--${name} must be a whole number`);
  }
  return name === 'limit' ? Math.min(Math.max(number, 1), LISTED_MAX) : number;
}
