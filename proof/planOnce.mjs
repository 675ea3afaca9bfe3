// A wave asks the same few hundred statements tens of thousands of times, each about a handful of
// rows: to plan one costs several times what it costs to run it. Here each is given a name, by which
// a connection of the server keeps its plan. The text that is asked stays what the program wrote.

import Cursor from 'pg-cursor';

const IS_ONE_STATEMENT = /^\s*(select|with|insert|update|delete)\b[^;]*$/i;

/** Before the pool has opened its first connection. */
export function planOnce(pool) {
  const names = new Map();
  const nameOf = (text) => {
    if (!names.has(text)) names.set(text, `planned_${names.size}`);
    return names.get(text);
  };
  pool.Client = class extends pool.Client {
    #cursors = new Map();

    query(asked, ...more) {
      if (typeof asked === 'string' && typeof more[0] !== 'object') {
        if (!IS_ONE_STATEMENT.test(asked)) return super.query(asked, ...more);
        return super.query({ text: asked, name: nameOf(asked) }, ...more);
      }
      if (asked instanceof Cursor) return super.query(namedCursor(asked, this.#cursors), ...more);
      // What has a name already, and what is no plain question: a COPY, a guarded one.
      const isPlain = Object.getPrototypeOf(asked) === Object.prototype;
      if (!isPlain || asked.name !== undefined) return super.query(asked, ...more);
      return super.query({ ...asked, name: nameOf(asked.text) }, ...more);
    }
  };
}

let cursors = 0;

/** A cursor has no name to be given: its two messages that would bear it are sent with one. */
function namedCursor(cursor, known) {
  const { text } = cursor;
  const submit = cursor.submit.bind(cursor);
  const handleRowDescription = cursor.handleRowDescription.bind(cursor);
  // Of one that failed nobody knows whether the server keeps its name.
  const name = known.get(text) ?? `cursor_${cursors++}`;
  return Object.assign(cursor, {
    submit(connection) {
      const { parse, bind } = connection;
      connection.parse = (asked) => {
        if (!known.has(text)) parse.call(connection, { ...asked, name });
      };
      connection.bind = (asked) => bind.call(connection, { ...asked, statement: name });
      submit(connection);
      delete connection.parse;
      delete connection.bind;
    },
    handleRowDescription(message) {
      known.set(text, name);
      handleRowDescription(message);
    },
  });
}
