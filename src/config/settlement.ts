// The section `settlement` of tieout.yaml: what became of the captured money. Owns its keys, what
// they may be, and what the rest of tieout sees of them; without the section nothing of settlement
// is kept, asked or shown. Neighbours: config.ts reads the file, shapes.ts has what sections share.

import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ConfigurationError } from '../core/errors.js';
import type { Hundredths } from '../core/money.js';
import { isCalendarDate } from '../core/settlement/workingDays.js';
import { isIban } from '../core/text/iban.js';
import { amount, byCurrency, filled, identifier, percent, whole } from './shapes.js';
import { isFile } from './values.js';

/** What a fee can be agreed for: lines that move an order's money. */
const TARIFF_TYPES = ['captured', 'refunded', 'chargeback', 'chargeback_reversed'] as const;
const [WORKING_DAYS_MAX, LIST_MAX] = [365, 10_000] as const;

/** What the acquirer and the merchant agreed for lines of a type, from a date on. */
export interface Tariff {
  readonly accountId: string;
  readonly type: (typeof TARIFF_TYPES)[number];
  /** The percent of the file in millionths: 1.40 is 14000n. */
  readonly partsPerMillion: bigint;
  readonly fixed: Readonly<Record<string, Hundredths>>;
  readonly from: string;
  readonly tolerance: Hundredths;
}

interface SettlementFiles {
  /** A name with * and ?, of the file without its folder. */
  readonly match: string;
  /** Absolute path of a map. */
  readonly map: string;
}

export interface SettlementSettings {
  /** A business date: what was captured or settled before is history. */
  readonly from: string;
  readonly settleDays: number;
  readonly arriveDays: number;
  /** Dates on which nobody works, in order. */
  readonly holidays: readonly string[];
  /** A regular expression with one group that finds the batch. */
  readonly reference: string | null;
  /** A regular expression of the payer's name. */
  readonly counterparty: string | null;
  /** In capitals, without spaces. */
  readonly bankAccounts: readonly string[];
  /** By account, type and date. */
  readonly tariff: readonly Tariff[];
  /** Absolute path of a folder. */
  readonly inbox: string | null;
  readonly files: readonly SettlementFiles[];
}

const A_DATE = 'must be a date such as "2026-11-01"';
const date = z.string(A_DATE).refine(isCalendarDate, A_DATE);
const expression = filled.refine(isExpression, 'is no regular expression');
const iban = filled
  .transform((text) => text.replaceAll(' ', '').toUpperCase())
  .refine(isIban, 'is no IBAN: its check digits do not fit');
const fileName = filled.refine((text) => !/[\\/]/.test(text), 'is a name of files, not a path');

const tariff = z.strictObject({
  accountId: identifier,
  type: z.enum(TARIFF_TYPES),
  percent,
  fixed: byCurrency.default({}),
  from: date.optional(),
  tolerance: amount.default(1n),
});

export const settlementSchema = z
  .strictObject({
    from: date,
    settleDays: whole(0, WORKING_DAYS_MAX).default(5),
    arriveDays: whole(0, WORKING_DAYS_MAX).default(3),
    holidays: z.array(date).max(LIST_MAX).default([]),
    reference: expression
      .refine((text) => groupsOf(text) === 1, 'must have exactly one group: (...)')
      .nullable()
      .default(null),
    counterparty: expression.nullable().default(null),
    bankAccounts: z.array(iban).max(LIST_MAX).default([]),
    tariff: z.array(tariff).max(LIST_MAX).default([]),
    inbox: filled.nullable().default(null),
    files: z
      .array(z.strictObject({ match: fileName, map: filled }))
      .max(LIST_MAX)
      .default([]),
  })
  .nullable()
  .default(null);

/** Of statements of the bank, which are not taken yet: checked and kept, and read by nothing. */
export const OF_STATEMENTS = ['arriveDays', 'reference', 'counterparty', 'bankAccounts'] as const;

/** Those of them that somebody set to something else than the default. */
export function unreadKeys(settings: SettlementSettings): string[] {
  const defaults = settlementSchema.parse({ from: settings.from });
  return OF_STATEMENTS.filter((key) => !isDeepStrictEqual(settings[key], defaults?.[key]));
}

type Given = NonNullable<z.infer<typeof settlementSchema>>;

/** The section as the program sees it; null where the file has none. Throws ConfigurationError. */
export function settlementOf(
  given: Given | null,
  file: string,
  accounts: readonly { accountId: string }[],
): SettlementSettings | null {
  if (given === null) return null;
  refuseTwins(given.bankAccounts, 'bankAccounts', file);
  const { inbox, files, ...rest } = given;
  return {
    ...rest,
    holidays: [...new Set(given.holidays)].sort(),
    tariff: tariffOf(given, file, accounts),
    inbox: inbox === null ? null : resolve(dirname(file), inbox),
    files: files.map(({ match, map }, index) => ({ match, map: mapOf(map, index, file) })),
  };
}

function tariffOf(
  { tariff: lines, from: begins }: Given,
  file: string,
  accounts: readonly { accountId: string }[],
): Tariff[] {
  const configured = new Set(accounts.map(({ accountId }) => accountId));
  const strange = lines.findIndex(({ accountId }) => !configured.has(accountId));
  if (strange >= 0) {
    const problem = `${lines[strange]?.accountId} is no account of this file`;
    throw new ConfigurationError(file, `settlement.tariff.${strange}.accountId`, problem);
  }
  const read = lines.map(({ percent: partsPerMillion, from = begins, ...line }) => {
    return { ...line, partsPerMillion, from };
  });
  refuseTwins(read.map(placeOf), 'tariff', file);
  return read.sort((left, right) => (placeOf(left) < placeOf(right) ? -1 : 1));
}

/** What a tariff is for; in the order of these texts the newest of an account and type is last. */
function placeOf({ accountId, type, from }: Pick<Tariff, 'accountId' | 'type' | 'from'>): string {
  return `${accountId} ${type} from ${from}`;
}

function refuseTwins(values: readonly string[], key: string, file: string): void {
  const twin = values.findIndex((value, index) => values.indexOf(value) < index);
  if (twin < 0) return;
  const problem = `${values[twin]} is given twice`;
  throw new ConfigurationError(file, `settlement.${key}.${twin}`, problem);
}

function mapOf(map: string, index: number, file: string): string {
  const path = resolve(dirname(file), map);
  if (isFile(path)) return path;
  throw new ConfigurationError(file, `settlement.files.${index}.map`, `there is no file ${path}`);
}

function isExpression(text: string): boolean {
  return groupsOf(text) !== null;
}

/** How many groups it captures; null: it is no regular expression. */
function groupsOf(text: string): number | null {
  try {
    // With an empty way out it matches anything, and the match names every group.
    return (new RegExp(`${text}|`, 'u').exec('')?.length ?? 0) - 1;
  } catch {
    return null;
  }
}
