// Fields of a form or an address, read strictly: each is asked for by name and shape, and whatever
// does not fit is as if it had not been given, or refuses the form. Nothing else reads them.

import { formatAmount, readAmount } from '../../core/money.js';

const TEXT_MAX = 1_000;
/** Rows of one bulk decision. */
const ROWS_MAX = 500;
/** Nobody types these: what the gateway said may end in a blank, and then other rows have it. */
const AS_GIVEN: ReadonlySet<string> = new Set(['cause', 'currency']);

export interface Fields {
  /** Trimmed, save what nobody types; null when absent, empty, or longer than `max`. */
  text(name: string, max?: number): string | null;
  oneOf<T extends string>(name: string, allowed: readonly T[]): T | null;
  /** A whole number from 0 to `max`. */
  whole(name: string, max: number): number | null;
  /** An amount as "12.34", also written 12 or 12.3 or 12,34. */
  amount(name: string): string | null;
  /**
   * Rows with the digest each was seen with, `12:ab...`, or `12:ab...-34` with the newest event of
   * its trail then, each once; without a digest it is null. Null when one is no row, or there are
   * too many.
   */
  picks(name: string): Map<bigint, string | null> | null;
  /** Something stands in it, whatever it is, or more than one thing. */
  isGiven(name: string): boolean;
  /** Names that are given. */
  names(): string[];
}

export function fieldsOf(raw: unknown): Fields {
  const given = new Map<string, string[]>();
  for (const [name, value] of Object.entries(isRecord(raw) ? raw : {})) {
    given.set(name, (Array.isArray(value) ? value : [value]).filter(isText));
  }
  const one = (name: string): string | null => {
    const [text = '', ...others] = given.get(name) ?? [];
    if (others.length > 0 || text.trim() === '') return null;
    return AS_GIVEN.has(name) ? text : text.trim();
  };
  return {
    text: (name, max = TEXT_MAX) => {
      const text = one(name);
      return text === null || text.length > max || text.includes('\u0000') ? null : text;
    },
    oneOf: (name, allowed) => allowed.find((word) => word === one(name)) ?? null,
    whole: (name, max) => {
      const text = one(name) ?? '';
      return /^\d{1,9}$/.test(text) && Number(text) <= max ? Number(text) : null;
    },
    amount: (name) => {
      const amount = readAmount((one(name) ?? '').replace(',', '.'));
      return amount === null ? null : formatAmount(amount);
    },
    picks: (name) => picksOf(given.get(name) ?? []),
    isGiven: (name) => (given.get(name) ?? []).some((text) => text.trim() !== ''),
    names: () => [...given.keys()],
  };
}

/** The number of a row in an address; null when it is none. */
export function rowIdOf(text: string | undefined): bigint | null {
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : null;
}

export function dateOf(text: string | undefined): string | null {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const instant = new Date(`${text}T00:00:00Z`);
  const isDay = !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
  return isDay ? text : null;
}

function picksOf(values: readonly string[]): Map<bigint, string | null> | null {
  const picks = new Map<bigint, string | null>();
  for (const value of values) {
    const [, id, digest] = /^(\d{1,18})(?::([0-9a-f]{64}(?:-\d{1,18})?))?$/.exec(value) ?? [];
    const row = rowIdOf(id);
    if (row === null || picks.size >= ROWS_MAX) return null;
    picks.set(row, digest ?? null);
  }
  return picks;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
