// Sides that take turns, and the lines of the bench's table: medians with the least and the most of
// ratios within one round, and whether they meet their goal.

/** Runs every side once a round, in turn; answers what each gave, by name. */
export async function inTurns(rounds, sides) {
  const found = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, side] of Object.entries(sides)) found[name].push(await side(round));
  }
  return found;
}

/** Wall time and the processor's time of this process, in milliseconds. */
export async function timed(work) {
  const [from, used] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(used);
  return { wall: performance.now() - from, cpu: (user + system) / 1000, result };
}

/** `left / right` of each round, by one of their figures. */
export function ratiosOf(left, right, figure) {
  return left.map((one, round) => one[figure] / right[round][figure]);
}

/** Prints one line; `goal` is { atMost } or { atLeast }. Answers what is worth keeping. */
export function line(name, values, goal = {}, digits = 2) {
  const middle = median(values);
  process.stdout.write(`  ${name.padEnd(58)} ${spread(values, digits)}${judged(middle, goal)}\n`);
  return figure(name, values, goal, digits);
}

/** What is worth keeping of a line. */
export function figure(name, values, goal = {}, digits = 2) {
  return { name, middle: median(values), values, goal, digits };
}

/** The median with the least and the most, as printed everywhere. */
export function spread(values, digits) {
  const text = (value) => value.toFixed(digits);
  const range =
    values.length > 1 ? ` (${text(Math.min(...values))}-${text(Math.max(...values))})` : '';
  return text(median(values)) + range;
}

function judged(middle, { atMost, atLeast }) {
  if (atMost !== undefined) return ` (goal at most ${atMost}: ${word(middle <= atMost)})`;
  if (atLeast !== undefined) return ` (goal at least ${atLeast}: ${word(middle >= atLeast)})`;
  return '';
}

function word(isMet) {
  return isMet ? 'met' : 'MISSED';
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}
