// The filters of `tieout breaks`: from the words of the command line to a set of breaks, and back
// to words for the trail. The same filters choose what is listed and what is decided together.

import type { Command } from 'commander';
import type { BreakFilter } from '../../breaks/breaksStore.js';
import { AGES, type AgeClock, seenRange } from '../../core/breaks/breakAge.js';
import type { BreakState } from '../../core/breaks/breakDecision.js';
import { UsageError } from '../../core/errors.js';
import { formatAmount, readAmount } from '../../core/money.js';
import { BREAK_KINDS } from '../../core/orders/verdict.js';
import { DAY_MS, startOfDay } from '../../core/time.js';

export interface BreakFlags {
  account?: string[];
  kind?: string[];
  state?: string;
  currency?: string;
  age?: string;
  owner?: string;
  min?: string;
  max?: string;
  text?: string;
  since?: string;
  until?: string;
  order?: string;
  cause?: string;
}

const FILTERS: readonly [name: keyof BreakFlags, flags: string, about: string][] = [
  ['account', '--account <id...>', 'of these accounts'],
  ['kind', '--kind <kind...>', 'of these kinds'],
  ['state', '--state <state>', 'open, waiver_asked, waived, resolved or all'],
  ['currency', '--currency <code>', 'in this currency'],
  [
    'age',
    '--age <days>',
    `days since the date on which a night first saw it: ${AGES.map((one) => one.name).join(', ')}`,
  ],
  ['owner', '--owner <name>', 'with this owner; "none": with nobody'],
  ['min', '--min <amount>', 'with at least so much money in it'],
  ['max', '--max <amount>', 'with at most so much'],
  ['text', '--text <words>', 'found in number, transaction, owner, note or reason'],
  ['since', '--since <date>', 'first seen on this date or later'],
  ['until', '--until <date>', 'first seen on this date or earlier'],
  ['order', '--order <number>', 'of this order'],
  ['cause', '--cause <cause>', 'of exactly this cause, as `list --group cause` prints it'],
];

export function filterOptions(command: Command, without: readonly string[] = []): Command {
  for (const [name, flags, about] of FILTERS) {
    if (!without.includes(name)) command.option(flags, about);
  }
  return command;
}

export function filterOf(
  flags: BreakFlags,
  clock: AgeClock,
  states: readonly BreakState[],
): BreakFilter {
  const kinds: readonly string[] = BREAK_KINDS;
  const odd = flags.kind?.find((kind) => !kinds.includes(kind));
  if (odd !== undefined) throw new UsageError(`${odd} is no kind of break: ${kinds.join(', ')}`);
  const seen = seenBetween(flags, clock);
  checkAmounts(flags);
  return {
    ...(flags.account === undefined ? {} : { accountIds: flags.account }),
    ...(flags.kind === undefined ? {} : { kinds: flags.kind }),
    ...statesOf(flags.state, states),
    ...(flags.currency === undefined ? {} : { currency: flags.currency.toUpperCase() }),
    ...(flags.owner === undefined ? {} : { owner: flags.owner === 'none' ? null : flags.owner }),
    ...(flags.min === undefined ? {} : { minAmount: amountOf(flags.min, 'min') }),
    ...(flags.max === undefined ? {} : { maxAmount: amountOf(flags.max, 'max') }),
    ...(flags.text === undefined ? {} : { text: flags.text }),
    ...(flags.order === undefined ? {} : { orderNo: flags.order }),
    ...(flags.cause === undefined ? {} : { cause: flags.cause }),
    ...seen,
  };
}

/** What was chosen, for the trail: "kind amount_mismatch, age 8-30"; empty when nothing was. */
export function filterWords(flags: BreakFlags): string {
  return FILTERS.flatMap(([name]) => {
    const value = flags[name];
    if (value === undefined) return [];
    return [`${name} ${Array.isArray(value) ? value.join(' or ') : value}`];
  }).join(', ');
}

export function breakIds(ids: readonly string[]): string[] {
  return ids.map((id) => {
    const number = id.replace(/^#/, '');
    if (!/^\d{1,18}$/.test(number)) throw new UsageError(`${id} is no number of a break`);
    return number;
  });
}

function statesOf(
  given: string | undefined,
  states: readonly BreakState[],
): Pick<BreakFilter, 'states'> {
  if (given === undefined) return { states };
  if (given === 'all') return {};
  const known = ['open', 'waiver_asked', 'waived', 'resolved'] as const;
  const state = known.find((one) => one === given);
  if (state === undefined) throw new UsageError(`--state must be ${known.join(', ')} or all`);
  return { states: [state] };
}

function seenBetween(
  flags: BreakFlags,
  clock: AgeClock,
): Pick<BreakFilter, 'seenFrom' | 'seenBefore'> {
  const from: Date[] = [];
  const before: Date[] = [];
  const startOf = (day: number): Date =>
    startOfDay(new Date(day).toISOString().slice(0, 10), clock.timezone);
  if (flags.since !== undefined) from.push(startOf(dayOf(flags.since, 'since')));
  if (flags.until !== undefined) {
    before.push(startOf(dayOf(flags.until, 'until') + DAY_MS));
  }
  if (flags.age !== undefined) {
    const range = /^(\d{1,5})(?:-(\d{1,5})|\+)$/.exec(flags.age);
    if (range === null) throw new UsageError('--age must be days such as 8-30 or 91+');
    const to = range[2] === undefined ? null : Number(range[2]);
    const { seenFrom, seenBefore } = seenRange({ from: Number(range[1]), to }, clock);
    if (seenFrom !== null) from.push(seenFrom);
    if (seenBefore !== null) before.push(seenBefore);
  }
  const [first, last] = [Math.max(...from.map(Number)), Math.min(...before.map(Number))];
  if (first >= last) throw new UsageError('--since, --until and --age have no day in common');
  return {
    ...(from.length === 0 ? {} : { seenFrom: new Date(first) }),
    ...(before.length === 0 ? {} : { seenBefore: new Date(last) }),
  };
}

/** What can match nothing is a slip of the hand, and "0 breaks" would read as good news. */
function checkAmounts({ min, max }: BreakFlags): void {
  const [least, most] = [min ?? '', max ?? ''].map(readAmount);
  if (least != null && most != null && least > most) {
    throw new UsageError(`--min ${min} is more than --max ${max}`);
  }
}

function dayOf(text: string, name: string): number {
  const day = Date.parse(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(day)) {
    throw new UsageError(`--${name} must be a date such as 2026-11-19`);
  }
  return day;
}

function amountOf(text: string, name: string): string {
  const amount = readAmount(text);
  if (amount === null) throw new UsageError(`--${name} must be an amount such as 12.34`);
  return formatAmount(amount);
}
