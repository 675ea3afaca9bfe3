// Draws from a seed, the same on every machine: what a schedule does is written in its seed.

/** A generator of numbers in [0, 1) and the few draws made of it. */
export function randomOf(...seeds) {
  let state = seeds.reduce((mixed, seed) => mix(mixed, seed), 0x9e3779b9);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit) => Math.floor(next() * limit);
  return {
    next,
    below,
    /** From `low` to `high`, both included. */
    between: (low, high) => low + below(high - low + 1),
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)],
    /** A pair of [weight, value] is drawn as often as its weight says. */
    weighted: (pairs) => {
      let left = next() * pairs.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of pairs) {
        left -= weight;
        if (left < 0) return value;
      }
      return pairs.at(-1)[1];
    },
    uuid: () => {
      const hex = (digits) => Array.from({ length: digits }, () => below(16).toString(16)).join('');
      return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
    },
  };
}

function mix(one, other) {
  let mixed = Math.imul(one ^ (Number(other) | 0), 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
