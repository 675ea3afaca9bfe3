// `npm run bench -- --part latency`: the whole night while the gateway takes 50 and 200 ms for each
// answer. What a pull costs at least is then arithmetic: pages x latency / concurrency; what is
// above it is ours. Neighbours: house.mjs (database, sandbox), wire.mjs (rules of the sandbox).

import { measure } from './measure.mjs';
import { sized } from './sized.mjs';
import { line } from './stats.mjs';
import { addFault, CONCURRENCY, faultsOf } from './wire.mjs';

const LATENCIES_MS = sized([50, 200], [50]);
const PULL = { atMost: 1.05 };

/** When the first and the last page of the night's own look were answered. */
const ASKED = `
  select (extract(epoch from max(answered_at) - min(answered_at)) * 1000)::float8 as ms
  from tieout.pages where pull_id = (select min(pull_id) from tieout.pulls)`;

export async function benchLatency(house, ledger, rounds) {
  const lines = [];
  for (const ms of LATENCIES_MS) {
    const nights = [];
    for (let round = 0; round < rounds; round += 1) {
      nights.push(await slowNight(house, ledger, ms));
      process.stderr.write(`${ms} ms, round ${round + 1} of ${rounds}\n`);
    }
    lines.push(...latencyLines(ms, ledger.orders, nights));
  }
  return lines;
}

async function slowNight(house, ledger, ms) {
  const place = await house.openPlace(ledger);
  try {
    const file = house.writeConfig(place);
    await addFault(place.baseUrl, { operation: '*', action: { kind: 'slow', ms } });
    const run = await measure([house.program, 'run', '--json', '--config', file]);
    const [{ done: requests }] = await faultsOf(place.baseUrl);
    const [asked] = await house.askPlace(place, ASKED);
    const { pull } = await house.stagesOf(place, run);
    const { pages } = run.answer.pull;
    const least = (count) => (count * ms) / CONCURRENCY;
    return {
      seconds: run.wallMs / 1000,
      peakMb: run.peakMb,
      pull: pull / least(pages),
      // Between the first and the last answer one wave of pages less is waited for.
      asked: asked.ms / least(pages - CONCURRENCY),
      whole: run.wallMs / least(requests),
      above: (run.wallMs - least(requests)) / 1000,
    };
  } finally {
    await house.closePlace(place);
  }
}

function latencyLines(ms, orders, nights) {
  const all = (figure) => nights.map((night) => night[figure]);
  const rates = all('seconds').map((seconds) => orders / seconds);
  return [
    line(`${ms} ms: pull, of pages x latency / concurrency`, all('pull'), PULL, 3),
    line(`${ms} ms: its pages, first to last answer, of the same`, all('asked'), PULL, 3),
    line(`${ms} ms: whole night, of the same for all requests`, all('whole')),
    line(`${ms} ms: whole night beyond that, seconds`, all('above'), {}, 1),
    line(`${ms} ms: orders a second, whole night`, rates, {}, 0),
    line(`${ms} ms: memory, MB`, all('peakMb'), {}, 0),
  ];
}
