// Chance that is none: every number follows from the seed and a position, so that any order of a
// night can be drawn alone, in any sequence, by any process. Never used for keys of real accounts.

/** A source of numbers from 0 (included) to 1 (excluded). */
export type Draw = () => number;

const UINT32 = 2 ** 32;

/** Mixes a seed and a position into 32 well-spread bits. */
export function mix(seed: number, position: number): number {
  let bits = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(position, 0xc2b2ae35)) | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** A small generator (mulberry32) that starts at the place of one position. */
export function drawsAt(seed: number, position: number): Draw {
  let state = mix(seed, position);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), bits | 61)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / UINT32;
  };
}

/** 32 bits of a text, for choices that must not depend on where the text came from (FNV-1a). */
export function hashText(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  }
  return bits >>> 0;
}

/** One of a list by a number from 0 to 1. */
export function pick<T>(choices: readonly T[], at: number): T {
  const chosen = choices[Math.min(choices.length - 1, Math.floor(at * choices.length))];
  if (chosen === undefined) throw new RangeError('nothing to pick from');
  return chosen;
}
