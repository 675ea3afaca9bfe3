// A wave asks the same few hundred statements tens of thousands of times, each about a handful of
// rows: to plan one costs several times what it costs to run it. Here each is given a name, by which
// a connection of the server keeps its plan. The text that is asked stays what the program wrote.

const IS_ONE_STATEMENT = /^\s*(select|with|insert|update|delete)\b[^;]*$/i;

/** Before the pool has opened its first connection. */
export function planOnce(pool) {
  const names = new Map();
  const nameOf = (text) => {
    if (!names.has(text)) names.set(text, `planned_${names.size}`);
    return names.get(text);
  };
  pool.Client = class extends pool.Client {
    query(asked, ...more) {
      if (typeof asked === 'string' && typeof more[0] !== 'object') {
        if (!IS_ONE_STATEMENT.test(asked)) return super.query(asked, ...more);
        return super.query({ text: asked, name: nameOf(asked) }, ...more);
      }
      // What has a name already, and what is no plain question: a cursor, a COPY, a guarded one.
      const isPlain = Object.getPrototypeOf(asked) === Object.prototype;
      if (!isPlain || asked.name !== undefined) return super.query(asked, ...more);
      return super.query({ ...asked, name: nameOf(asked.text) }, ...more);
    }
  };
}
