// The ends of the chains as they were signed at the end of each run, held against the chains as
// they are now: whoever rewrote one, cut it off or emptied it left an end that does not stand any
// more. What was signed before the database was put back is told and not held against anybody.
// Neighbour: audit/signedHeads.ts signs and reads.

import type { KeyObject } from 'node:crypto';
import { type HeadsLine, readHeads, type SignedWords } from '../audit/signedHeads.js';
import type { Db } from '../database/db.js';

type SignedEnds = Extract<SignedWords, { kind: 'ends' }>;
type PutBack = Extract<SignedWords, { kind: 'put_back' }>;

export interface HeadsFinding {
  path: string;
  /** null: nothing was signed here yet */
  lines: number | null;
  /** compared and standing */
  standing: number;
  newest: SignedEnds | null;
  /** the last time that the database was put back, and what was signed before */
  putBack: { at: string; reason: string; lines: number; standing: number } | null;
  /** the first of each chain that does not stand, and lines with another signature, in words */
  broken: string[];
  torn: number;
  /** of each chain the link since which what people decide has to be signed; null: not said */
  decisionsFrom: ReadonlyMap<string, bigint> | null;
}

/** Ends looked up by one statement. */
const ENDS_AT_ONCE = 5_000;

/**
 * `putBacks`: the file of this installation, which knows of put-backs that a copy shipped earlier
 * cannot know.
 */
export async function checkHeads(
  db: Db,
  path: string,
  keyOf: () => Promise<KeyObject>,
  putBacks: string | null = null,
): Promise<HeadsFinding> {
  const lines = await readHeads(path, keyOf);
  if (lines === null) {
    const none = { lines: null, standing: 0, newest: null, putBack: null, torn: 0 };
    return { path, ...none, broken: [], decisionsFrom: null };
  }
  const own = putBacks === null ? [] : ((await readHeads(putBacks, keyOf)) ?? []);
  const last = lastPutBack(lines, own);
  const signed = lines.flatMap((line) =>
    line.kind === 'signed' && line.words.kind === 'ends'
      ? [{ lineNo: line.lineNo, words: line.words }]
      : [],
  );
  const isBefore = ({ lineNo, words }: { lineNo: number; words: SignedEnds }): boolean =>
    last !== null && (last.lineNo === null ? words.at < last.words.at : lineNo < last.lineNo);
  const problems = await problemsOf(db, signed);
  const counted = signed.filter((line) => !isBefore(line));
  const told = signed.filter(isBefore);
  const standing = (some: typeof signed): number =>
    some.filter(({ lineNo }) => !problems.has(lineNo)).length;
  const forged = lines.filter(({ kind }) => kind === 'forged');
  return {
    path,
    lines: signed.length,
    standing: standing(counted),
    newest: signed.at(-1)?.words ?? null,
    putBack: last && {
      ...{ at: last.words.at, reason: last.words.reason },
      ...{ lines: told.length, standing: standing(told) },
    },
    broken: [
      ...forged.map(({ lineNo }) => `line ${lineNo} was not signed with this key, or was altered`),
      ...firstOfEach(counted, problems),
    ],
    torn: lines.filter(({ kind }) => kind === 'torn').length,
    decisionsFrom: decisionsFrom(signed.map(({ words }) => words)),
  };
}

/** As the first of them says, or a later one that is earlier: a database that was put back. */
function decisionsFrom(signed: readonly SignedEnds[]): Map<string, bigint> | null {
  const [first, ...later] = signed.filter(({ decisions }) => decisions === 'signed');
  if (first === undefined) return null;
  const from = new Map(first.ends.map(({ account, link }) => [account, BigInt(link)]));
  for (const { account, link } of later.flatMap(({ ends }) => ends)) {
    const known = from.get(account);
    if (known !== undefined && BigInt(link) < known) from.set(account, BigInt(link));
  }
  return from;
}

/** In the file itself by its place, elsewhere by its time. */
function lastPutBack(
  lines: readonly HeadsLine[],
  own: readonly HeadsLine[],
): { lineNo: number | null; words: PutBack } | null {
  const find = (some: readonly HeadsLine[]) =>
    some
      .flatMap((line) =>
        line.kind === 'signed' && line.words.kind === 'put_back'
          ? [{ lineNo: line.lineNo, words: line.words }]
          : [],
      )
      .at(-1) ?? null;
  const [here, there] = [find(lines), find(own)];
  if (there === null || (here !== null && here.words.at >= there.words.at)) return here;
  return { lineNo: null, words: there.words };
}

interface Problem {
  account: string;
  words: string;
}

/** Of each line that does not stand, what is wrong. */
async function problemsOf(
  db: Db,
  signed: readonly { lineNo: number; words: SignedEnds }[],
): Promise<Map<number, Problem[]>> {
  const ends = signed.flatMap(({ lineNo, words }) =>
    words.ends.map((end) => ({ ...end, lineNo, date: words.businessDate, at: words.at })),
  );
  const problems = new Map<number, Problem[]>();
  for (let from = 0; from < ends.length; from += ENDS_AT_ONCE) {
    const some = ends.slice(from, from + ENDS_AT_ONCE);
    const found = await digestsOf(db, some);
    for (const [at, end] of some.entries()) {
      const sha256 = found[at] ?? null;
      if (sha256 === end.sha256) continue;
      const chain = end.account === '' ? 'runs and settings' : `account ${end.account}`;
      const words =
        `at the end of ${end.date} (signed ${end.at}, line ${end.lineNo}) the chain of ${chain} ` +
        `ended in link ${end.link}, which is ${sha256 === null ? 'not there' : 'another one'} now`;
      problems.set(end.lineNo, [
        ...(problems.get(end.lineNo) ?? []),
        { account: end.account, words },
      ]);
    }
  }
  return problems;
}

/** In the order asked; null: there is no such link. */
async function digestsOf(
  db: Db,
  ends: readonly { account: string; link: string }[],
): Promise<(string | null)[]> {
  const { rows } = await db.query<{ sha256: string | null }>(
    `select case when s.link_no = 0 then '' else l.sha256 end as sha256
     from unnest($1::text[], $2::bigint[]) with ordinality as s (account_id, link_no, place)
     left join tieout.chain_links l
       on l.account_id = s.account_id collate "C" and l.link_no = s.link_no
     order by s.place`,
    [ends.map(({ account }) => account), ends.map(({ link }) => link)],
  );
  return rows.map((row) => row.sha256);
}

function firstOfEach(
  lines: readonly { lineNo: number }[],
  problems: ReadonlyMap<number, readonly Problem[]>,
): string[] {
  const first = new Map<string, string>();
  for (const { lineNo } of lines) {
    for (const { account, words } of problems.get(lineNo) ?? []) {
      if (!first.has(account)) first.set(account, words);
    }
  }
  return [...first.values()];
}
