// A wave of houses: so many schedules, a few to an installation, several installations at once, since
// each of them mostly waits.

import { runHouse } from './house.mjs';

export async function runHouses(place, { first, count, size, houses, ...given }) {
  const turn = [];
  for (let at = 0; at < count; at += size) {
    turn.push({ first: first + at, count: Math.min(size, count - at) });
  }
  const found = { violations: [], money: new Map(), classifiedMs: null };
  const work = async () => {
    for (let house = turn.shift(); house !== undefined; house = turn.shift()) {
      const { violations, money } = await oneHouse(place, { ...given, ...house });
      found.violations.push(...violations);
      addMoney(found.money, money);
    }
  };
  await Promise.all(Array.from({ length: houses }, work));
  return found;
}

async function oneHouse(place, given) {
  const { first } = given;
  const began = performance.now();
  const { violations, money } = await runHouse(place, given);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.error(`house ${first}: ${seconds} s, ${violations.length} wrong`);
  const named = ({ invariant, words }) => ({ invariant, words: `house ${first}: ${words}` });
  return { violations: violations.map(named), money };
}

function addMoney(all, money) {
  for (const [currency, sums] of money) {
    const known = all.get(currency) ?? {};
    for (const [name, sum] of Object.entries(sums)) known[name] = (known[name] ?? 0n) + sum;
    all.set(currency, known);
  }
}
