// Has the acquirer changed something? A field of an answer that was always there and is gone, one
// that was never there, one of a type that it never had: each is told once. What is there now and
// then must not be told night after night, and has rules of its own. Pure.

import type { Field, FieldSample, FoldedAnswers, JsonType } from './answerFields.js';

export interface FieldChange {
  path: string;
  change: 'vanished' | 'appeared' | 'type' | 'returned';
  /** the types it had before; none: it was never there */
  before: JsonType[];
  /** the types that are new; none: it is not there */
  now: JsonType[];
  /** in how many of how many entries (or objects above it) it is now */
  seen: number;
  of: number;
  samples: FieldSample[];
}

/** A field over all nights. `optional`: it was told as gone and as back, and is told no more. */
export interface KnownField {
  types: JsonType[];
  state: 'there' | 'gone' | 'optional';
}

export interface FieldCount {
  seen: number;
  objects: number;
}

/** What is kept from night to night about one kind of answer of one account; all by path. */
export interface DriftMemory {
  known: ReadonlyMap<string, KnownField>;
  /** fields that every entry had, over nights of enough entries; null: there were none yet */
  steady: readonly string[] | null;
  /** counted since the last time that there were enough entries to judge by */
  recent: ReadonlyMap<string, FieldCount>;
}

/** So many entries say that a field is always there, or not any more. */
const ENTRIES_ENOUGH = 20;
/** Past so many fields none is taken in, and none told to be new. */
const KNOWN_MAX = 1000;
/** Changes of one night and kind of answer that are told. */
const CHANGES_MAX = 50;

export const NO_MEMORY: DriftMemory = { known: new Map(), steady: null, recent: new Map() };

/** What a night's answers change against all before, and what to remember of them. */
export function driftOf(
  before: DriftMemory,
  tonight: FoldedAnswers,
): { changes: FieldChange[]; memory: DriftMemory } {
  const known = new Map(before.known);
  const steady = before.steady ?? [];
  const recent = withTonight(before.recent, tonight);
  const isEnough = countOf(recent, '').objects >= ENTRIES_ENOUGH;
  const fresh = newChanges(known, tonight);
  const gone = isEnough && !tonight.isCut ? goneChanges(known, steady, recent) : [];
  for (const { path, before: types } of gone) known.set(path, { types, state: 'gone' });
  return {
    // Before the first judgement every field would be new, so nothing is told.
    changes: before.steady === null ? [] : [...fresh, ...gone].slice(0, CHANGES_MAX),
    memory: isEnough
      ? { known, steady: steadyOf(steady, recent), recent: new Map() }
      : { known, steady: before.steady, recent },
  };
}

/**
 * Fields that nobody has seen before, of which only the outermost is told; types that a field never
 * had; fields that are back. Takes them into `known`.
 */
function newChanges(known: Map<string, KnownField>, { fields }: FoldedAnswers): FieldChange[] {
  const added = new Set<string>();
  const changes: FieldChange[] = [];
  for (const [path, field] of fields) {
    const before = known.get(path);
    if (field.seen === 0 || (before === undefined && known.size >= KNOWN_MAX)) continue;
    const types = typesOf(field);
    const now = types.filter((type) => !before?.types.includes(type));
    const change = changeOf(before, now);
    if (change === 'appeared') added.add(path);
    if (change !== null && !added.has(parentOf(path))) {
      changes.push({
        path,
        change,
        before: before?.types ?? [],
        now: change === 'returned' ? types : now,
        seen: field.seen,
        of: fields.get(parentOf(path))?.objects ?? field.seen,
        samples: types.flatMap((type) => (now.includes(type) ? (field.types[type] ?? []) : [])),
      });
    }
    known.set(path, {
      types: [...(before?.types ?? []), ...now],
      state: change === 'returned' ? 'optional' : (before?.state ?? 'there'),
    });
  }
  return changes;
}

function changeOf(
  before: KnownField | undefined,
  now: readonly JsonType[],
): FieldChange['change'] | null {
  if (before === undefined) return 'appeared';
  if (before.state === 'gone') return 'returned';
  return now.length > 0 ? 'type' : null;
}

/** Fields that every entry had, and that none has now, out of enough to say so. */
function goneChanges(
  known: ReadonlyMap<string, KnownField>,
  steady: readonly string[],
  recent: DriftMemory['recent'],
): FieldChange[] {
  return steady.flatMap((path) => {
    const field = known.get(path);
    const of = countOf(recent, parentOf(path)).objects;
    const isGone = countOf(recent, path).seen === 0 && of >= ENTRIES_ENOUGH;
    if (!isGone || field === undefined || field.state === 'optional') return [];
    return [{ path, change: 'vanished', before: field.types, now: [], seen: 0, of, samples: [] }];
  });
}

/** Fields that every entry has: of enough now, or of enough before and of all the few since. */
function steadyOf(before: readonly string[], recent: DriftMemory['recent']): string[] {
  const wasSteady = new Set(before);
  return [...new Set([...before, ...recent.keys()])].filter((path) => {
    // A list may have any number of items, so nothing is expected of them.
    if (path === '' || path.endsWith('[]')) return false;
    const of = countOf(recent, parentOf(path)).objects;
    return countOf(recent, path).seen >= of && (of >= ENTRIES_ENOUGH || wasSteady.has(path));
  });
}

function withTonight(
  recent: DriftMemory['recent'],
  { fields }: FoldedAnswers,
): Map<string, FieldCount> {
  const sum = new Map(recent);
  for (const [path, { seen, objects }] of fields) {
    const before = countOf(recent, path);
    sum.set(path, { seen: before.seen + seen, objects: before.objects + objects });
  }
  return sum;
}

function countOf(counts: DriftMemory['recent'], path: string): FieldCount {
  return counts.get(path) ?? { seen: 0, objects: 0 };
}

function typesOf({ types }: Field): JsonType[] {
  return Object.keys(types) as JsonType[];
}

/** `a.b[]` belongs to `a.b`, that to `a`, and that to the whole answer, the empty path. */
function parentOf(path: string): string {
  if (path.endsWith('[]')) return path.slice(0, -2);
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}
