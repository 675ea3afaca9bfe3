// A statement that goes ahead of another one, in the same message and the same transaction, and
// refuses both where it fails. By it every statement of a run is fenced by whoever holds the run,
// at no further way to the server. Neighbour: db.ts, which sends its statements through here.

import pg from 'pg';

/** A CALL that answers nothing, or fails. */
export interface Guard {
  text: string;
  values: readonly string[];
  /** The same with its values in it: several statements in one message take no parameters. */
  whole: string;
}

type Answer = pg.QueryResult | pg.QueryResult[];

/** What the settings of a transaction are has to be said before anything else of it. */
export function isSetting(text: string): boolean {
  return /^set\s/i.test(text);
}

/** The last of the answers is that of the statement. */
export function queryBehind(
  target: pg.Pool | pg.ClientBase,
  guard: Guard,
  text: string,
  values: readonly unknown[],
): Promise<Answer> {
  if (values.length === 0) return target.query(`${guard.whole}; ${text}`);
  const query = new GuardedQuery(guard, text, values);
  return new Promise((resolve, reject) => {
    const send = target.query.bind(target) as unknown as Send;
    // A pool answers twice, by its promise too.
    send(query, undefined, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

type Send = (
  query: GuardedQuery,
  values: undefined,
  told: (error: Error | null | undefined, answer: Answer) => void,
) => void;

/** The driver's side of the extended protocol: what it declares leaves these out. */
interface Wire {
  parse(what: { text: string }): void;
  bind(what: { values: readonly string[] }): void;
  execute(what: object): void;
}

const plain = pg.Query.prototype as unknown as { prepare(wire: Wire): void };

/**
 * The guard is parsed, bound and executed ahead of the statement, and one Sync follows both: to the
 * server they are one transaction, and after a failure of the first it skips the second.
 */
class GuardedQuery extends pg.Query {
  readonly guard: Guard;

  constructor(guard: Guard, text: string, values: readonly unknown[]) {
    super({ text, values: [...values] });
    this.guard = guard;
  }

  prepare(wire: Wire): void {
    const { text, values } = this.guard;
    wire.parse({ text });
    wire.bind({ values });
    wire.execute({});
    plain.prepare.call(this, wire);
  }
}
