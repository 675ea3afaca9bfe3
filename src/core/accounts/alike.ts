// What is said of many accounts alike: once, with how many they are and a few names. From how many
// accounts on something is said for all of them together is decided here and nowhere else. Pure.
// Neighbours: runs/summary.ts makes sentences of it, web/layout/many.ts pages.

import { andMore, counted } from '../text/amounts.js';

/** Accounts that are shown each in full; more are rows of a table, or counted. */
const IN_FULL_MAX = 20;
/** Names in a line; tables have all. */
const NAMED_MAX = 5;
/** The same of more accounts than this is one line of a list. */
const LINES_ALIKE_MAX = 3;
/** Names in the sentence of a night, and phrases of one kind: more are not read any more. */
const IN_SENTENCE_MAX = 3;

export function areMany(rows: readonly unknown[]): boolean {
  return rows.length > IN_FULL_MAX;
}

/** "S1, S2, S10 and 597 more" */
export function firstNamed(names: readonly string[], max = NAMED_MAX): string {
  return names.slice(0, max).join(', ') + andMore(names.length - max);
}

/** S2 before S10. */
export function byName(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

/** "S1 and S2", "S1, S2, S10 and 597 more": as short as a sentence has to be. */
export function inSentence(accountIds: Iterable<string>): string {
  const ids = [...new Set(accountIds)].sort(byName);
  return ids.length > IN_SENTENCE_MAX ? firstNamed(ids, IN_SENTENCE_MAX) : joinParts(ids);
}

export function joinParts(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** Of one account; `about` is short, and may name it; `text` is all that is told. */
interface Told {
  accountId: string;
  kind: string;
  about: string;
  text?: string;
}

/**
 * The phrases of a sentence: those that are equal but for their account are one, with its names.
 * With a figure in it each stands for itself, since the figure is that account's.
 */
export function phrasesOf(told: readonly Told[]): string[] {
  return cut([...grouped(told, phraseKey).values()], phraseOf);
}

/** Where they name no account: behind the names of those of which each is true. */
export function reasonsOf(told: readonly Told[]): string[] {
  return cut([...grouped(told, ({ about }) => about).values()], (alike) => {
    const names = inSentence(alike.map(({ accountId }) => accountId));
    return `${names}: ${alike[0]?.about ?? ''}`;
  });
}

function cut(groups: readonly Told[][], words: (alike: readonly Told[]) => string): string[] {
  const shown = groups.slice(0, IN_SENTENCE_MAX);
  const left = groups.slice(IN_SENTENCE_MAX);
  const named = new Set(shown.flat().map(({ accountId }) => accountId));
  const others = left.flat().filter(({ accountId }) => !named.has(accountId));
  const count = new Set(others.map(({ accountId }) => accountId)).size;
  const more = count > 0 ? `${counted(count, 'more account')} like these` : `${left.length} more`;
  return [...shown.map(words), ...(left.length === 0 ? [] : [more])];
}

function phraseOf(alike: readonly Told[]): string {
  const [first] = alike;
  if (first === undefined) return '';
  if (new Set(alike.map(({ accountId }) => accountId)).size === 1) return first.about;
  const names = inSentence(alike.map(({ accountId }) => accountId));
  return withoutId(first)
    .replace(`account ${THE_ID} is `, `accounts ${THE_ID} are `)
    .replace(`account ${THE_ID}`, `accounts ${THE_ID}`)
    .replace(THE_ID, () => names);
}

function phraseKey(one: Told): string {
  return COUNT.test(one.about) ? one.about : withoutId(one);
}

/** A number with what is counted: "13 held instructions". */
const COUNT = /(?<![^\s(])\d[\d,]* (?=[a-z])/;
const COUNTS = new RegExp(COUNT, 'g');
/** Stands in no text of ours, and in no account. */
const THE_ID = '\u0000';

/** The account where it is named first, as a word of its own. */
function withoutId({ about, accountId }: Told): string {
  const at = placeOf(about, accountId);
  return at < 0 ? about : about.slice(0, at) + THE_ID + about.slice(at + accountId.length);
}

function placeOf(about: string, accountId: string): number {
  let at = about.indexOf(accountId);
  while (at >= 0) {
    const [before = ' ', after = ' '] = [about[at - 1], about[at + accountId.length]];
    if (/[\s(]/.test(before) && /[\s),:;]/.test(after)) return at;
    at = about.indexOf(accountId, at + 1);
  }
  return -1;
}

/** Lines of a list: one account's own, or what stands for all that are told the same. */
interface Alike<Row> {
  first: Row;
  accountIds: readonly string[];
}

/**
 * In their order. What differs by account and counts alone is the same; of few accounts each is
 * told for itself, and of many the first is an example. What names an order, a request, a sum or a
 * time is nobody else's.
 */
export function alikeLines<Row extends Told>(told: readonly Row[]): Alike<Row>[] {
  const lines = new Map<Row, Alike<Row>>();
  for (const alike of grouped(told, lineKey).values()) {
    const accountIds = [...new Set(alike.map(({ accountId }) => accountId))].sort(byName);
    const isOne = accountIds.length > LINES_ALIKE_MAX;
    for (const first of isOne ? alike.slice(0, 1) : alike) {
      lines.set(first, { first, accountIds: isOne ? accountIds : [first.accountId] });
    }
  }
  return told.flatMap((one) => lines.get(one) ?? []);
}

/** "S1", or "450 accounts (S1, S2, S3, S4, S5 and 445 more), such as S7". */
export function whoseLine({ first, accountIds }: Alike<Told>): string {
  if (accountIds.length === 1) return first.accountId;
  const names = firstNamed(accountIds, areMany(accountIds) ? NAMED_MAX : accountIds.length);
  const all = `${counted(accountIds.length, 'account')} (${names})`;
  return `${all}, such as ${first.accountId}`;
}

function lineKey({ kind, accountId, about, text = about }: Told): string {
  const anyone = text.replaceAll(ID_OF_TEXT, (word) => (word === accountId ? THE_ID : word));
  return `${kind} ${anyone.replaceAll(COUNTS, '')}`;
}

/** Words of a text, among which an account may be. */
const ID_OF_TEXT = /[\p{L}\p{N}][\p{L}\p{N}._@/-]*(?<![.])/gu;

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
