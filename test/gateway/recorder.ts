// Which fields of an answer are taken up by name. What the parsers give is handed on inside a
// recorder that notes each access by name and hides its keys: whoever copies the whole record
// (spread, JSON.stringify, Object.entries) gets nothing and has taken up nothing.

import { vi } from 'vitest';

/** Paths that were read while `run` ran, lists written as `name[]`. */
export function readsOf(run: () => unknown): Set<string> {
  const reads = new Set<string>();
  const parse = JSON.parse;
  const take = Map.prototype.get;
  const spies = [
    vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
      return recorded(parse(text, reviver), '', reads);
    }),
    // The reader of XML hands on maps: of the root, and of the one element with children.
    vi.spyOn(Map.prototype, 'get').mockImplementation(function (this: Map<unknown, unknown>, key) {
      const root = this.has('merchant_id') && this.has('order_no');
      const reason = !root && this.has('name') && this.has('status');
      if (root || reason) reads.add(`${reason ? 'risk_reasons[].' : ''}${String(key)}`);
      return take.call(this, key);
    }),
  ];
  try {
    run();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return reads;
}

function recorded(value: unknown, path: string, reads: Set<string>): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const list = value.map((one) => recorded(one, `${path}[]`, reads));
    return new Proxy(list, {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads.add(`${path}[]`);
        return Reflect.get(target, name) as unknown;
      },
    });
  }
  return new Proxy(value, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      if (typeof name !== 'string' || name === 'toJSON') return found;
      const below = path === '' ? name : `${path}.${name}`;
      reads.add(below);
      return recorded(found, below, reads);
    },
    ownKeys: () => [],
  });
}
