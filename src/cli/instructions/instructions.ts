// `tieout instructions list|show|approve|reject|resolve|replan`: what is to be sent, what waits for
// a person and why, and what people decide about it. The rules are instructions/decisions.ts's;
// here are the words of the command line.

import { Command, Option } from 'commander';
import { UsageError } from '../../core/errors.js';
import type { InstructionState } from '../../core/instructions/instruction.js';
import { INSTRUCTION_STATES } from '../../core/instructions/instruction.js';
import { INSTRUCTION_OPERATIONS } from '../../core/orders/order.js';
import type { Decision } from '../../instructions/decisions.js';
import { decideInstructions } from '../../instructions/decisions.js';
import { COUNTED_MAX, mostUrgentFirst } from '../../instructions/instructionListStore.js';
import { sheetOf } from '../../instructions/instructionSheet.js';
import { bookConfirmed } from '../../movements/bookMovements.js';
import { checkNamed } from '../accounts.js';
import type { App } from '../app.js';
import { enqueuesWhenAsked } from '../app.js';
import { deciderHere, printJson, printLines, wantsJson, withApp } from '../context.js';
import { moreLines } from '../terminal.js';
import { listLines, sheetLines, verdictJson, verdictLines } from './instructionText.js';

const LISTED_MAX = 10_000;
const LISTED_DEFAULT = 200;
const LIMIT_WORDS = `at most so many (default: ${LISTED_DEFAULT}, as JSON ${LISTED_MAX})`;

/** What waits for a person. */
const WAITING_STATES: readonly InstructionState[] = ['held', 'unknown'];

export function instructionsCommand(): Command {
  const root = new Command('instructions').description(
    'movements of money and review decisions: what waits, what happened, and what people decide',
  );
  listCommand(root);
  showCommand(root);
  deciding(root, 'approve', 'let held instructions go; bound to what is seen, for 7 days')
    .option('--reason <words>', 'why')
    .option('--seen <digest>', 'as `show` printed it: refuse if anything changed since')
    .action(decision(({ reason }) => ({ kind: 'approve', reason: reason ?? null })));
  deciding(root, 'reject', 'say no: withdrawn, and not planned again by itself')
    .requiredOption('--reason <words>', 'why')
    .action(decision(({ reason }) => ({ kind: 'reject', reason: reason ?? '' })));
  resolveCommand(root);
  deciding(root, 'replan', 'have what was rejected, withdrawn or proven not happened planned again')
    .option('--reason <words>', 'why')
    .action(decision(({ reason }) => ({ kind: 'replan', reason: reason ?? null })));
  return root;
}

interface ListFlags {
  state?: string;
  account: string[];
  operation?: string;
  order?: string;
  waiting?: boolean;
  limit?: string;
  offset: string;
}

function listCommand(root: Command): void {
  root
    .command('list', { isDefault: true })
    .description('instructions, the most urgent first: unknown, held, under way, then the newest')
    .option(
      '--state <names>',
      `only in these states, with commas: ${INSTRUCTION_STATES.join(', ')}`,
    )
    .option('--account <id>', 'only this account; may be given again', collect, [])
    .addOption(new Option('--operation <name>', 'only these').choices(INSTRUCTION_OPERATIONS))
    .option('--order <order_no>', 'only of this order')
    .option('--waiting', 'only what waits for a person: held and unknown')
    .option('--limit <n>', LIMIT_WORDS)
    .option('--offset <n>', 'leave out the first so many', '0')
    .option('--json', 'print one JSON document')
    .action(async (flags: ListFlags, command: Command) => {
      await withApp(command, (app) => list(app, flags, wantsJson(command)), { quiet: true });
    });
}

async function list(app: App, flags: ListFlags, json: boolean): Promise<number> {
  await checkNamed(app, flags.account, async (one) => {
    const any = { accountIds: [one], operation: null, orderNo: null };
    return (await mostUrgentFirst(app.db, any, { limit: 1, offset: 0 })).rows.length > 0;
  });
  const filter = {
    ...statesOf(flags),
    accountIds: flags.account.length === 0 ? null : flags.account,
    operation: flags.operation ?? null,
    orderNo: flags.order ?? null,
  };
  const page = {
    // A program that takes a part of it for all decides wrongly; a person is told of the rest.
    limit: numberOf(
      '--limit',
      flags.limit ?? String(json ? LISTED_MAX : LISTED_DEFAULT),
      LISTED_MAX,
    ),
    offset: numberOf('--offset', flags.offset, Number.MAX_SAFE_INTEGER),
  };
  const { rows, found } = await mostUrgentFirst(app.db, filter, page);
  const rest = found - page.offset - rows.length;
  const more = moreLines(rest, '--limit, --offset, --state', found > COUNTED_MAX);
  if (json) printJson(rows);
  else printLines([...listLines(rows, new Date()), ...more]);
  // One document on standard output; that it is not all of them is said beside it.
  if (json) for (const line of more) process.stderr.write(`${line}\n`);
  return 0;
}

function statesOf(flags: ListFlags): { states?: readonly InstructionState[] } {
  if (flags.waiting === true && flags.state !== undefined) {
    throw new UsageError('give --waiting or --state, not both');
  }
  if (flags.waiting === true) return { states: WAITING_STATES };
  if (flags.state === undefined) return {};
  const states = flags.state.split(',').map((name) => {
    const state = INSTRUCTION_STATES.find((one) => one === name.trim());
    if (state === undefined) throw new UsageError(`--state ${name}: no such state`);
    return state;
  });
  return { states };
}

function showCommand(root: Command): void {
  root
    .command('show')
    .argument('<instruction>', 'its number')
    .description('one instruction: what it rests on, who decided, what was sent and answered')
    .option('--json', 'print one JSON document')
    .action(async (id: string, _flags: object, command: Command) => {
      await withApp(command, (app) => show(app, idOf(id), wantsJson(command)), { quiet: true });
    });
}

async function show(app: App, id: bigint, json: boolean): Promise<number> {
  const { refundReasonTag } = app.config.gateway.profile;
  const sheet = await sheetOf({ db: app.db, refundReasonTag }, id);
  if (sheet === null) throw new UsageError(`there is no instruction ${id}`);
  if (json) printJson(sheet);
  else printLines(sheetLines(sheet));
  return 0;
}

interface DecisionFlags {
  reason?: string;
  reference?: string;
  seen?: string;
  check?: boolean;
}

function deciding(root: Command, name: string, about: string): Command {
  return root
    .command(name)
    .argument('<instruction...>', 'their numbers')
    .description(about)
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--check', 'say what would happen, change nothing')
    .option('--json', 'print one JSON document');
}

const FINDING_WORDS = { happened: 'happened', 'not-happened': 'not_happened' } as const;

function resolveCommand(root: Command): void {
  root
    .command('resolve')
    .argument(
      '<number...>',
      'their numbers, then happened or not-happened: what the gateway really did',
    )
    .usage('[options] <number...> happened|not-happened')
    .description('settle unknown ones by what a person found out about each of them')
    .requiredOption('--reason <words>', 'how it was found out')
    .requiredOption('--reference <words>', 'where it is on record outside: a number of the portal')
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--check', 'say what would happen, change nothing')
    .option('--json', 'print one JSON document')
    .action(async (given: string[], flags: DecisionFlags, command: Command) => {
      const [ids, word = ''] = [given.slice(0, -1), given.at(-1)];
      const finding = FINDING_WORDS[word as keyof typeof FINDING_WORDS];
      if (finding === undefined) throw new UsageError(`${word}: say happened or not-happened`);
      if (ids.length === 0) throw new UsageError(`resolve ${word}: name each by its number`);
      const { reason = '', reference = '' } = flags;
      await decide(ids, { kind: 'resolve', finding, reason, reference }, flags, command);
    });
}

function decision(decisionOf: (flags: DecisionFlags) => Decision) {
  return (ids: string[], flags: DecisionFlags, command: Command): Promise<void> =>
    decide(ids, decisionOf(flags), flags, command);
}

async function decide(
  words: readonly string[],
  wanted: Decision,
  flags: DecisionFlags,
  command: Command,
): Promise<void> {
  const ids = words.map(idOf);
  const [first] = ids;
  if (flags.seen !== undefined && ids.length > 1) {
    throw new UsageError('--seen names what was seen of one instruction: give one');
  }
  const seen = new Map<bigint, string>();
  if (flags.seen !== undefined && first !== undefined) seen.set(first, flags.seen);
  await withApp(
    command,
    async (app) => {
      const who = await deciderHere(command, app);
      const check = flags.check === true;
      const queuePort = enqueuesWhenAsked(app);
      const deps = {
        config: app.config,
        db: app.db,
        queuePort,
        now: () => new Date(),
        log: app.log,
      };
      const isAlone = flags.seen !== undefined;
      const request = { ids, decision: wanted, who, seen, isAlone, check };
      const rows = await decideInstructions(deps, request);
      if (wanted.kind === 'resolve' && !check) {
        // Also of an account that left the configuration.
        const done = rows.flatMap((row) => (row.kind === 'done' ? [row.instruction] : []));
        await bookConfirmed(app, [...new Set(done.map(({ accountId }) => accountId))]);
      }
      if (wantsJson(command)) printJson({ check, decidedBy: who, rows: rows.map(verdictJson) });
      else printLines(verdictLines(rows, wanted, check));
      return rows.every((row) => row.kind === 'done') ? 0 : 1;
    },
    { quiet: true },
  );
}

function idOf(word: string): bigint {
  if (!/^#?\d{1,18}$/.test(word)) throw new UsageError(`${word}: not the number of an instruction`);
  return BigInt(word.replace('#', ''));
}

function numberOf(flag: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) throw new UsageError(`${flag} ${text}: not 0 to ${max}`);
  return value;
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}
