// Faults by rule, for people and programs that cannot hand in a function: which operation, which of
// its requests, what goes wrong. Rules come from a file (`--faults`) or over /_sandbox/faults, as
// JSON or as one JSON object a line. Seeded: the same rules on the same requests fail alike.

import { UsageError } from '../../core/errors.js';
import { mix } from '../seed/random.js';
import { CONTENT_FAULTS, type FaultAction } from './faults.js';

export interface FaultRule {
  /** The last part of the path, or `*` for every operation. */
  readonly operation: string;
  /** Only this one of the requests that the rule sees, from 1. */
  readonly nth?: number;
  /** Each so many of them. */
  readonly every?: number;
  /** From 0 to 1, drawn from the seed. Without nth, every and probability: always. */
  readonly probability?: number;
  readonly action: FaultAction;
}

export interface FaultRules {
  /** The fault of one request; every rule for its operation counts it, the first that fits acts. */
  choose(operation: string): FaultAction | null;
  add(rules: readonly FaultRule[]): void;
  clear(): void;
  list(): (FaultRule & { readonly seen: number; readonly done: number })[];
}

interface Kept {
  readonly rule: FaultRule;
  /** Which of the rules it is; draws of its own for each. */
  readonly number: number;
  seen: number;
  done: number;
}

type Field =
  | { readonly words: readonly string[]; readonly preset?: string }
  | { readonly from: number; readonly to: number; readonly preset?: number }
  | { readonly text: 'path'; readonly preset: string };

const RULES_MAX = 1_000;
const RULE_OPERATIONS = [
  '*',
  'authorise',
  'checkout',
  'retrievalTrans',
  'capture',
  'review',
  'cancel',
  'refund',
  'payout',
] as const;

const UINT32 = 2 ** 32;
const COUNT_MAX = 1_000_000_000;
const MS_MAX = 600_000;
const WHEN: Field = { words: ['before', 'after'], preset: 'after' };

/** What an action may say besides its kind; a field without preset must be given. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  drop: { when: WHEN, how: { words: ['rst', 'fin'], preset: 'rst' } },
  status: { status: { from: 400, to: 599, preset: 502 }, when: WHEN },
  redirect: {
    status: { from: 301, to: 308, preset: 307 },
    when: { words: ['before', 'after'], preset: 'before' },
    location: { text: 'path', preset: '' },
  },
  truncate: {},
  slow: { ms: { from: 0, to: MS_MAX } },
  drip: {},
  half: {},
  late: { ms: { from: 0, to: MS_MAX }, answer: { words: ['drop', 'status'], preset: 'drop' } },
  page_shifted: {},
  ...Object.fromEntries(CONTENT_FAULTS.map((kind) => [kind, {}])),
};

export function openFaultRules(seed: number): FaultRules {
  let kept: Kept[] = [];
  return {
    choose(operation) {
      let chosen: Kept | null = null;
      for (const one of kept) {
        if (one.rule.operation !== '*' && one.rule.operation !== operation) continue;
        one.seen += 1;
        if (chosen === null && fits(one, seed)) chosen = one;
      }
      if (chosen === null) return null;
      chosen.done += 1;
      return chosen.rule.action;
    },
    add(rules) {
      if (kept.length + rules.length > RULES_MAX) {
        throw new UsageError(`at most ${RULES_MAX} fault rules`);
      }
      kept = [...kept, ...rules.map((rule, at) => keep(rule, kept.length + at))];
    },
    clear() {
      kept = [];
    },
    list: () => kept.map(({ rule, seen, done }) => ({ ...rule, seen, done })),
  };
}

/** A JSON array, a JSON object, or one object a line; anything else is a UsageError. */
export function parseFaultRules(text: string): FaultRule[] {
  const given = readJson(text);
  return given.map(({ value, name }) => readRule(value, name));
}

function keep(rule: FaultRule, number: number): Kept {
  return { rule, number, seen: 0, done: 0 };
}

function fits({ rule, number, seen }: Kept, seed: number): boolean {
  if (rule.nth !== undefined) return seen === rule.nth;
  if (rule.every !== undefined) return seen % rule.every === 0;
  if (rule.probability !== undefined)
    return mix(mix(seed, number), seen) / UINT32 < rule.probability;
  return true;
}

function readJson(text: string): { value: unknown; name: string }[] {
  const whole = parsed(text);
  if (whole.kind === 'json') {
    const all: unknown[] = Array.isArray(whole.value) ? whole.value : [whole.value];
    return all.map((value, number) => ({ value, name: `rule ${number + 1}` }));
  }
  const lines = text.split('\n').map((line, number) => ({ line: line.trim(), number }));
  return lines
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => {
      const name = `line ${number + 1}`;
      const read = parsed(line);
      if (read.kind === 'json') return { value: read.value, name };
      throw new UsageError(`${name}: is no JSON`);
    });
}

function parsed(text: string): { kind: 'json'; value: unknown } | { kind: 'none' } {
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    return { kind: 'none' };
  }
}

function readRule(value: unknown, name: string): FaultRule {
  const rule = readObject(value, name);
  refuseUnknown(rule, ['operation', 'nth', 'every', 'probability', 'action'], name);
  const { operation } = rule;
  if (!RULE_OPERATIONS.some((known) => known === operation)) {
    throw new UsageError(`${name}: operation is one of ${RULE_OPERATIONS.join(', ')}`);
  }
  const when = ['nth', 'every', 'probability'].filter((key) => rule[key] !== undefined);
  if (when.length > 1) throw new UsageError(`${name}: ${when.join(' and ')} exclude each other`);
  for (const key of ['nth', 'every'])
    refuseNumber(rule[key], 1, COUNT_MAX, `${name}: ${key}`, true);
  refuseNumber(rule.probability, 0, 1, `${name}: probability`, false);
  return { ...(rule as unknown as FaultRule), action: readAction(rule.action, name) };
}

/** A name alone, or an object with `kind` and what that kind takes. */
function readAction(value: unknown, name: string): FaultAction {
  const given = typeof value === 'string' ? { kind: value } : readObject(value, `${name}: action`);
  const kind = String(given.kind);
  const fields = Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : undefined;
  if (fields === undefined) {
    throw new UsageError(`${name}: action is one of ${Object.keys(FIELDS).join(', ')}`);
  }
  refuseUnknown(given, ['kind', ...Object.keys(fields)], `${name}: ${kind}`);
  const read = Object.entries(fields).map(([key, field]) => {
    const found = given[key] ?? field.preset;
    refuseField(found, field, `${name}: ${kind}: ${key}`);
    return [key, found];
  });
  return { kind, ...Object.fromEntries(read) } as FaultAction;
}

function refuseField(value: unknown, field: Field, name: string): void {
  if ('from' in field) {
    if (value === undefined) throw new UsageError(`${name} must be given`);
    refuseNumber(value, field.from, field.to, name, true);
  } else if ('words' in field) {
    if (field.words.some((word) => word === value)) return;
    throw new UsageError(`${name} is one of ${field.words.join(', ')}`);
  } else if (typeof value !== 'string') throw new UsageError(`${name} is an address`);
}

function refuseNumber(
  value: unknown,
  from: number,
  to: number,
  name: string,
  isWhole: boolean,
): void {
  if (value === undefined) return;
  const isNumber = typeof value === 'number' && (Number.isSafeInteger(value) || !isWhole);
  if (isNumber && value >= from && value <= to) return;
  throw new UsageError(`${name} is a number from ${from} to ${to}`);
}

function readObject(value: unknown, name: string): Record<string, unknown> {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new UsageError(`${name}: is no object`);
}

function refuseUnknown(
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
  name: string,
): void {
  const key = Object.keys(given).find((one) => !known.includes(one));
  if (key !== undefined) throw new UsageError(`${name}: unknown key ${key}`);
}
