// What a campaign prints: one table for ours and for the plain job with retries, the money by
// currency, the rare states that were reached, the places of death. Says whether all is well.

import { moneyText } from './auditor/books.mjs';

/** Which column a broken invariant belongs to. */
const COLUMN = {
  ...{ I1: 'doubles', I8: 'doubles', I16: 'doubles', I5: 'losses', I2: 'wrong', I3: 'wrong' },
  ...{ I12: 'no end', I13: 'figures', I11: 'figures', I14: 'not told', I15: 'figures' },
};
/** Money of schedules in which a person had told codes to mean something else is marked so. */
export const CODES_SWAPPED = 'codes swapped';
const COLUMNS = ['doubles', 'losses', 'wrong', 'no end', 'figures', 'not told', 'other'];

export function openResult() {
  return { schedules: 0, violations: [], money: new Map() };
}

export function addTo(result, { violations, money }, count) {
  result.schedules += count;
  result.violations.push(...violations);
  for (const [currency, sums] of money) {
    const known = result.money.get(currency) ?? {};
    for (const [name, sum] of Object.entries(sums)) known[name] = (known[name] ?? 0n) + sum;
    result.money.set(currency, known);
  }
}

/** Prints everything; answers whether nothing is wrong and every rare state was reached. */
export function printTable(result, { tally, naive, rare, mustReach }) {
  const columns = Object.fromEntries(COLUMNS.map((name) => [name, 0]));
  for (const { invariant } of result.violations) columns[COLUMN[invariant] ?? 'other'] += 1;
  console.log(`| | schedules | kills | effects | ${COLUMNS.join(' | ')} |`);
  console.log(`|---|${'---:|'.repeat(3 + COLUMNS.length)}`);
  const ours = [result.schedules, tally.kills(), tally.of('effects'), ...Object.values(columns)];
  console.log(`| tieout | ${ours.join(' | ')} |`);
  if (naive !== null) {
    const plain = [result.schedules, '', naive.effects, naive.doubles, naive.losses];
    while (plain.length < 3 + COLUMNS.length) plain.push('');
    console.log(`| a plain job with retries | ${plain.join(' | ')} |`);
  }
  console.log('\n| money | confirmed | moved | unknown | difference |\n|---|---:|---:|---:|---:|');
  for (const [currency, sums] of [...result.money].sort()) {
    const cells = ['confirmed', 'moved', 'unknown', 'difference'].map((name) =>
      moneyText(sums[name] ?? 0n),
    );
    console.log(`| ${currency} | ${cells.join(' | ')} |`);
  }
  printCounts(
    'rare states',
    rare.map((name) => [name, tally.of(name)]),
  );
  printCounts('died', [...tally.killsBy].sort());
  const others = [...tally.counts].filter(([name]) => !rare.includes(name)).sort();
  printCounts('also', others);
  for (const { invariant, words } of result.violations.slice(0, 50)) {
    console.log(`${invariant}: ${words}`);
  }
  const apart = differing(result.money);
  if (apart.length > 0) console.log(`moved is not confirmed: ${apart.join('; ')}`);
  const missed = rare.filter((name) => tally.of(name) === 0);
  if (mustReach && missed.length > 0) console.log(`never reached: ${missed.join('; ')}`);
  const isReached = !(mustReach && missed.length > 0);
  return result.violations.length === 0 && apart.length === 0 && isReached;
}

/** Currencies in which what moved is not what was confirmed. */
function differing(money) {
  const isWhole = ([currency, { difference = 0n }]) =>
    difference === 0n || currency.endsWith(CODES_SWAPPED);
  return [...money].filter((row) => !isWhole(row)).map(([currency]) => currency);
}

function printCounts(title, pairs) {
  console.log(`\n| ${title} | times |\n|---|---:|`);
  for (const [name, times] of pairs) console.log(`| ${name} | ${times} |`);
}
