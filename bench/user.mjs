// `npm run bench -- --part user`: a whole night beside what a user would write (userScript.mjs), in
// turn, each against a fresh gateway and database. The script pulls, stores, compares and lists what
// differs, and nothing else: so it is put beside the same stages of the night, and beside all of it.

import { fileURLToPath } from 'node:url';
import { inTurns, line } from './stats.mjs';

const SCRIPT = fileURLToPath(new URL('userScript.mjs', import.meta.url));
/** The stages of a night in which it does what the script does. */
const SAME_WORK = ['start', 'pull', 'compare', 'reconciliation'];

export async function benchUser(house, ledger, rounds) {
  const inPlace = (work) => async () => {
    const place = await house.openPlace(ledger);
    try {
      return await work(place);
    } finally {
      await house.closePlace(place);
    }
  };
  const { script, night } = await inTurns(rounds, {
    script: inPlace((place) => house.measure([SCRIPT, JSON.stringify(place)])),
    night: inPlace(async (place) => {
      const file = house.writeConfig(place);
      const run = await house.measure([house.program, 'run', '--json', '--config', file]);
      return { ...run, stages: await house.stagesOf(place, run) };
    }),
  });
  const same = night.map(({ stages }) => SAME_WORK.reduce((sum, name) => sum + stages[name], 0));
  const of = (left, right) => left.map((value, round) => value / right[round]);
  const all = (runs, figure) => runs.map((run) => run[figure]);
  const stage = (name) =>
    of(
      script.map((run) => run.answer.stages[name]),
      same,
    );
  return [
    line('user script / the same stages of tieout', of(all(script, 'wallMs'), same), {
      atLeast: 5,
    }),
    line('user script / whole night', of(all(script, 'wallMs'), all(night, 'wallMs'))),
    line('share of it: pull and store / the same stages', stage('pull and store')),
    line('share of it: compare / the same stages', stage('compare')),
    line(
      'processor time with the server, script / whole night',
      of(all(script, 'busyMs'), all(night, 'busyMs')),
    ),
    line('memory, script / tieout', of(all(script, 'peakMb'), all(night, 'peakMb'))),
  ];
}
