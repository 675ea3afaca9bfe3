// What the schema is made of held against what this version's migrations make: the digests that
// are shipped beside them (migrations/definitions.tsv, written by `npm run schema`). Whoever
// replaces the function that digests, or takes a guard away, is named before anything is believed
// that they answer. Pure. Neighbour: definitionsStore.ts asks the catalogue.

import { createHash } from 'node:crypto';

/** One object of the schema as the server tells it (catalogue.sql). */
export interface Definition {
  kind: string;
  relation: string | null;
  /** the relation, or what partitions of its kind are made like */
  template: string | null;
  /** empty: the relation itself */
  name: string;
  plain: string;
  /** in the words of one version of PostgreSQL; null: nothing that differs from one to the other */
  printed: string | null;
  isPart: boolean;
}

export interface Definitions {
  /** of PostgreSQL */
  major: number;
  objects: readonly Definition[];
}

/** One that is not what was shipped, in words. */
interface AlteredDefinition {
  object: string;
  problem: 'is gone' | 'was changed' | 'is not of this version' | 'is switched off';
}

export interface DefinitionsFinding {
  altered: AlteredDefinition[];
  compared: number;
  /** null: everything was; else why conditions, defaults and the text of views were not compared */
  notCompared: string | null;
}

interface Shipped {
  major: number;
  objects: Map<string, ShippedObject>;
}

interface ShippedObject {
  words: string;
  template: string | null;
  isPart: boolean;
  plain: string;
  printed: string;
}

const FIRST_LINE = /^PostgreSQL (\d+)$/;

/** One line an object, in the order of their names. */
export function shippedText({ major, objects }: Definitions): string {
  const lines = objects.map((one) =>
    [
      ...[one.kind, one.template ?? '', one.name, one.isPart ? 'part' : ''],
      ...[digest(one.plain), one.printed === null ? '' : digest(one.printed)],
    ].join('\t'),
  );
  return `${[`PostgreSQL ${major}`, ...lines.sort()].join('\n')}\n`;
}

function digest(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** @throws where it is not what shippedText writes */
function readShipped(text: string): Shipped {
  const [first = '', ...lines] = text.split(/\r?\n/).filter((line) => line !== '');
  const major = FIRST_LINE.exec(first)?.[1];
  const objects = new Map<string, ShippedObject>();
  for (const line of lines) {
    const [kind = '', template = '', name = '', part, plain, printed] = line.split('\t');
    if (plain === undefined || printed === undefined) throw new Error(`definitions: ${line}`);
    const of = template === '' ? null : template;
    const words = wordsOf({ kind, relation: of, name });
    objects.set(keyOf({ kind, template: of, name }), {
      ...{ words, template: of, isPart: part === 'part', plain, printed },
    });
  }
  if (major === undefined || objects.size === 0) throw new Error('definitions: nothing in it');
  return { major: Number(major), objects };
}

const OFF = 'trigger that is off';
/** Somebody may keep tables and views of their own there: they change nothing of ours. */
const MAY_BE_MORE = ['table', 'view'];

export function compareDefinitions(found: Definitions, text: string): DefinitionsFinding {
  const shipped = readShipped(text);
  const isSame = shipped.major === found.major;
  const altered: AlteredDefinition[] = [];
  const seen = new Set<string>();
  for (const one of found.objects) {
    const expected = shipped.objects.get(keyOf(one));
    seen.add(`${one.relation ?? ''}\t${keyOf(one)}`);
    if (expected === undefined) {
      if (MAY_BE_MORE.includes(one.kind)) continue;
      const problem = one.kind === OFF ? 'is switched off' : 'is not of this version';
      altered.push({ object: wordsOf(one), problem });
    } else if (
      digest(one.plain) !== expected.plain ||
      (isSame && (one.printed === null ? '' : digest(one.printed)) !== expected.printed)
    ) {
      altered.push({ object: wordsOf(one), problem: 'was changed' });
    }
  }
  altered.push(...missing(found, shipped, seen));
  return {
    altered,
    compared: found.objects.length,
    notCompared: isSame
      ? null
      : `PostgreSQL ${found.major} prints conditions, defaults and the text of views otherwise ` +
        `than PostgreSQL ${shipped.major}: these were not compared`,
  };
}

/** A partition is held against others of its kind; whether one ought to be there nobody can say. */
function missing(found: Definitions, shipped: Shipped, seen: ReadonlySet<string>) {
  const parts = found.objects.filter(({ kind, isPart }) => kind === 'table' && isPart);
  const relationsLike = (template: string | null) =>
    parts.filter((part) => part.template === template).map(({ relation }) => relation);
  const gone: AlteredDefinition[] = [];
  for (const [key, { words, template, isPart }] of shipped.objects) {
    const [kind = '', , name = ''] = key.split('\t');
    for (const relation of isPart ? relationsLike(template) : [template]) {
      if (seen.has(`${relation ?? ''}\t${key}`)) continue;
      const object = isPart ? wordsOf({ kind, relation, name }) : words;
      gone.push({ object, problem: 'is gone' });
    }
  }
  return gone;
}

function keyOf({ kind, template, name }: Pick<Definition, 'kind' | 'template' | 'name'>): string {
  return [kind, template ?? '', name].join('\t');
}

function wordsOf({ kind, relation, name }: Pick<Definition, 'kind' | 'relation' | 'name'>): string {
  const what = kind === OFF ? 'trigger' : kind;
  if (relation === null) return `${what} ${name}`;
  return name === '' ? `${what} tieout.${relation}` : `${what} ${name} of tieout.${relation}`;
}
