// Which breaks an address names: the filters of the list, of the causes and of the decisions over
// all that match are the same, and are read here only.

import type { BreakFilter } from '../../../breaks/breaksStore.js';
import { dueRuleOf } from '../../../breaks/dueRule.js';
import { AGES, seenRange } from '../../../core/breaks/breakAge.js';
import type { DueRule } from '../../../core/breaks/dueDate.js';
import { overdueBefore } from '../../../core/breaks/dueDate.js';
import type { BreakKind } from '../../../core/orders/verdict.js';
import { BREAK_KINDS } from '../../../core/orders/verdict.js';
import { moneyIn } from '../../../core/text/amounts.js';
import { labelOf, labelStates, stateLabel } from '../../../core/text/labels.js';
import type { Visit } from '../../visit.js';
import type { Fields } from '../../visitor/fields.js';
import { chosenBy } from '../../visitor/filters.js';

const BREAK_STATES = ['open', 'waiver_asked', 'waived', 'resolved', 'any'] as const;

/** Causes name what a ledger's row lacks, and the gateway's words; order numbers may be long. */
const TEXT_MAX = 600;
const OWNER_MAX = 200;
/** As long as a gateway writes it. */
const CURRENCY_MAX = 64;

export interface Clock {
  now: Date;
  rule: DueRule;
}

export function clockOf({ deps }: Visit): Clock {
  return { now: deps.now(), rule: dueRuleOf(deps.config) };
}

export function filterOf(
  query: Fields,
  accounts: readonly string[],
  { now, rule }: Clock,
): BreakFilter {
  const read = readOf(query, accounts);
  const { state, kind, owner, age, due, from, to, currency, text, cause } = read;
  return {
    ...{ currency, text, cause, minAmount: from, maxAmount: to },
    accountIds: chosenBy({ query, accounts }, read).accountIds,
    states: state === 'any' ? null : [state ?? 'open'],
    kinds: kind === null ? null : [kind],
    ...(owner === null ? {} : { owner: owner === '-' ? null : owner }),
    ...seenOf(
      age === null ? NEVER_MIND : seenRange(age, { at: now, timezone: rule.timezone }),
      due === null ? null : overdueBefore(now, rule),
    ),
  };
}

/** Each filter as it is understood. */
function readOf(query: Fields, accounts: readonly string[]) {
  return {
    state: query.oneOf('state', BREAK_STATES),
    account: query.oneOf('account', accounts),
    kind: query.oneOf<BreakKind>('kind', BREAK_KINDS),
    currency: query.text('currency', CURRENCY_MAX),
    age: AGES.find(({ name }) => name === query.text('age')) ?? null,
    due: query.oneOf('due', [OVERDUE]),
    owner: query.text('owner', OWNER_MAX),
    from: query.amount('from'),
    to: query.amount('to'),
    text: query.text('text', TEXT_MAX),
    cause: causeOf(query),
  };
}

const NEVER_MIND = { seenFrom: null, seenBefore: null };

/** What is overdue was first seen before an instant, as what is of an age was. */
function seenOf({ seenFrom, seenBefore }: ReturnType<typeof seenRange>, late: Date | null) {
  const ends = [seenBefore, late].filter((end) => end !== null);
  const first = ends.length === 0 ? null : new Date(Math.min(...ends.map(Number)));
  return { seenFrom, seenBefore: first };
}

/** In an address: of breaks whose due date is over. */
export const OVERDUE = 'overdue';

/** What was given and does not fit, so that nothing matches. */
export function filterProblem(query: Fields, accounts: readonly string[]): string | null {
  return chosenBy({ query, accounts }, readOf(query, accounts)).problem;
}

export function causeOf(query: Fields): string | null {
  return query.text('cause', TEXT_MAX);
}

const FILTERS = [
  ...['state', 'account', 'kind', 'currency', 'age', 'due', 'owner', 'from', 'to', 'text', 'cause'],
] as const;

/** The filters of an address as the query of another one; `more` is put in their place or added. */
export function queryOf(query: Fields, more: Readonly<Record<string, string>> = {}): string {
  const kept = Object.entries(keptOf(query)).filter(([name]) => more[name] === undefined);
  return new URLSearchParams([...kept, ...Object.entries(more)]).toString();
}

/** Those that are given. */
export function keptOf(query: Fields): Record<string, string> {
  return Object.fromEntries(
    FILTERS.flatMap((name): [string, string][] => {
      const value = query.text(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** "kind amount_mismatch, age 8-30", for the trail; all that is open where nothing was chosen. */
export function chosenKeys(query: Fields): string {
  return wordsBy(query, (_, value) => value);
}

/** The same in words: "kind amount mismatch, age 8-30". */
export function chosenWords(query: Fields): string {
  return wordsBy(query, (name, value) => {
    if (name === 'state') return stateLabel(value);
    return name === 'kind' ? labelOf(value) : value;
  });
}

function wordsBy(query: Fields, wordsOf: (name: string, value: string) => string): string {
  const words = FILTERS.flatMap((name) => {
    const value = query.text(name);
    return value === null ? [] : [`${name} ${wordsOf(name, value)}`];
  });
  return words.length === 0 ? 'all that are open' : words.join(', ');
}

const OF_ANOTHER_SHAPE = 'an entry of another shape';

/** A cause begins with the kind of break, and goes on in words of others. */
export function causeWords(cause: string): string {
  // The kind says it already.
  const [kind = '', ...rest] = cause.split(', ').filter((part) => part !== OF_ANOTHER_SHAPE);
  return [labelOf(kind), ...rest.map(partWords)].join(', ');
}

/** As the database words it: +5.00 is more at the gateway, `here` is the ledger. */
function partWords(part: string): string {
  const delta = /^delta ([+-])(\S+) (\S+)$/.exec(part);
  if (delta !== null) {
    const [, sign, amount = '', currency] = delta;
    return `${moneyIn(amount, currency)} ${sign === '+' ? 'more' : 'less'} at the gateway`;
  }
  const side = /^(.+) (here|there)$/.exec(part);
  if (side === null) return part;
  const where = side[2] === 'here' ? 'in the ledger' : 'at the gateway';
  return `${labelStates(side[1] ?? '')} ${where}`;
}
