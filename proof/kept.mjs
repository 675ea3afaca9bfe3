// Waves that are over, one line each, so that a long run can be stopped and gone on with: what was
// found, what was counted. Of the simulator and the campaign alike. Neighbour: table.mjs prints it.

import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addTo, openResult } from './table.mjs';
import { openTally } from './tally.mjs';

/** Without a folder it is kept in memory alone. `of` is what made it: only what has the same counts. */
export function openKept(folder, seed, of) {
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const file = folder === undefined ? null : join(folder, `waves-${seed}.ndjson`);
  const lines = file !== null && existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const waves = lines
    .filter((line) => line !== '')
    .map(waveOf)
    .filter((one) => one.of === of);
  return {
    has: (first, count) => waves.some((one) => one.first === first && one.count === count),
    add(wave) {
      waves.push(wave);
      if (file !== null) appendFileSync(file, `${lineOf({ of, ...wave })}\n`);
    },
    all: () => waves,
  };
}

/** What is kept of a wave; plain data, save for amounts. */
export function keptOf({ first, count, found, tally }) {
  return {
    ...{ first, count, violations: found.violations, classifiedMs: found.classifiedMs ?? null },
    money: [...found.money],
    counts: [...tally.counts],
    kills: [...tally.killsBy],
  };
}

/** All waves as one: what printTable takes. */
export function sumOf(waves) {
  const [result, tally] = [openResult(), openTally()];
  for (const wave of waves) {
    addTo(result, { violations: wave.violations, money: new Map(wave.money) }, wave.count);
    for (const [name, by] of wave.counts) tally.add(name, by);
    for (const [name, by] of wave.kills) tally.addKills(name, by);
  }
  return { result, tally };
}

export function lineOf(wave) {
  return JSON.stringify(wave, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}

export function waveOf(line) {
  return JSON.parse(line, (_, value) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
}
