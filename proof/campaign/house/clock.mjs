// Loaded before the program: this whole process lives some time ahead, as its database does, and
// its clock looks more often than in life whether a night is owed. The file says by how much.

import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/** How often the clock reads the schedule, and how often here. */
const POLL_MS = 30_000;
const SHORT_POLL_MS = 4_000;
const file = process.env.TIEOUT_CAMPAIGN_SHIFT;

const RealDate = Date;
let [shift, readAt] = [0, Number.NEGATIVE_INFINITY];

function ahead() {
  if (performance.now() - readAt > 50) {
    shift = Number(readFileSync(file, 'utf8')) || shift;
    readAt = performance.now();
  }
  return RealDate.now() + shift;
}

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(ahead());
    else super(...given);
  }
  static now() {
    return ahead();
  }
};

const { setTimeout: wait } = timers;
timers.setTimeout = (ms, ...more) => wait(ms === POLL_MS ? SHORT_POLL_MS : ms, ...more);
syncBuiltinESMExports();
