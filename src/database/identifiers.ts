// What may vary in the text of a statement: a name or a value where PostgreSQL takes no parameter
// (the partition of a month, the columns of a COPY, a setting), written as it must be. Everything
// else is a parameter. test/house.test.ts holds that no statement is put together in another way.

import pg from 'pg';

/** Quoted already; made here alone. */
export class Quoted {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static of(text: string): Quoted {
    return new Quoted(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** A name with what it lies in: schema and table, or the name alone. */
export function identifier(...path: readonly string[]): Quoted {
  return Quoted.of(path.map((name) => pg.escapeIdentifier(name)).join('.'));
}

/** A name as the server writes it, quoted where it needs to be. */
export function asWritten(name: string): Quoted {
  if (!WRITTEN.test(name)) throw new Error(`${name} is no name that a server wrote`);
  return Quoted.of(name);
}

const NAME = '(?:[a-z_][a-z0-9_$]*|"(?:[^"]|"")+")';
const WRITTEN = new RegExp(`^${NAME}(?:\\.${NAME})*$`);

/** Names one after the other: relations to empty, columns that the server wrote. */
export function list(names: readonly Quoted[]): Quoted {
  return Quoted.of(names.join(', '));
}

/** Columns as a COPY lists them. */
export function columnList(names: readonly string[]): Quoted {
  return list(names.map((name) => identifier(name)));
}

/** A text where PostgreSQL takes no parameter. */
export function literal(text: string): Quoted {
  return Quoted.of(pg.escapeLiteral(text));
}

/** A statement with names in it, and whole numbers where PostgreSQL takes no parameter. */
export function named(
  parts: TemplateStringsArray,
  ...holes: readonly (Quoted | number | bigint)[]
): string {
  return parts.reduce((text, part, at) => text + written(holes[at - 1]) + part);
}

function written(hole: Quoted | number | bigint | undefined): string {
  if (hole instanceof Quoted || typeof hole === 'bigint') return String(hole);
  if (Number.isSafeInteger(hole)) return String(hole);
  throw new Error('a statement takes quoted names and whole numbers alone');
}
