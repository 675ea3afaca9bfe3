// Who works in an installation: the program's own commands as processes, each kept as its supervisor
// keeps it. A service that dies is started again; `run` is begun by a cron until its night is over.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CLOCK = fileURLToPath(new URL('clock.mjs', import.meta.url));
const STOP_MS = 60_000;
/** So long, in fifths of a second, a process has before it is killed. */
const PAUSE_POLLS = 50;
/** What a supervisor leaves between two starts, and a cron between two runs. */
const AGAIN_MS = { service: 1_000, run: 2_500 };
/** A command that is typed is given up after so long. */
const TYPED_MS_MAX = 240_000;

export const CREWS = [
  [2, ['run']],
  [3, ['start']],
  [2, ['schedule', 'work', 'work']],
  [2, ['start', 'start']],
  [1, ['start', 'run']],
  [1, ['run', 'run']],
  [1, ['schedule', 'schedule', 'work']],
];

/** `hosts`: folders with a configuration each. */
export function openCrew({ root, folder, hosts, tally }) {
  const program = join(root, 'bin', 'tieout.js');
  const errors = openSync(join(folder, 'errors'), 'a');
  const env = { ...process.env, TIEOUT_CAMPAIGN_SHIFT: join(folder, 'shift') };
  const members = [];
  let isOver = false;
  let isPaused = false;
  const launch = (words, cwd, stdio) =>
    spawn(process.execPath, ['--import', CLOCK, program, ...words], { cwd, env, stdio });

  /** `isDone` tells a cron when its night is over; a service never is. */
  const keep = async (member, isDone) => {
    while (!isOver && !isDone()) {
      if (isPaused) {
        await sleep(200);
        continue;
      }
      const child = launch([member.kind], member.cwd, ['ignore', errors, errors]);
      member.child = child;
      const [code, signal] = await once(child, 'exit');
      member.child = null;
      if (signal === 'SIGKILL') tally.count('processes killed');
      else tally.count(`${member.kind} exited ${code}`);
      await sleep(member.kind === 'run' ? AGAIN_MS.run : AGAIN_MS.service);
    }
  };
  return {
    members,
    begin(kinds) {
      for (const [at, kind] of kinds.entries()) {
        const member = { kind, cwd: hosts[at % hosts.length], child: null, kept: null };
        members.push(member);
        if (kind !== 'run') member.kept = keep(member, () => false);
      }
    },
    /** A cron's evening: its commands are begun until the night is over. */
    crons: (isDone) =>
      Promise.all(members.filter(({ kind }) => kind === 'run').map((one) => keep(one, isDone))),
    /** Somebody stops all of them, and starts them again later. */
    async pause() {
      isPaused = true;
      for (let turn = 0; members.some(({ child }) => child !== null); turn += 1) {
        for (const { child } of members) child?.kill(turn === 0 ? 'SIGTERM' : 'SIGKILL');
        for (let poll = 0; poll < PAUSE_POLLS; poll += 1) {
          if (members.every(({ child }) => child === null)) break;
          await sleep(200);
        }
      }
    },
    resume: () => {
      isPaused = false;
    },
    living: () => members.filter(({ child }) => child !== null),
    /** What somebody types, to its end: what it printed. */
    async type(words, host = 0) {
      const child = launch(words, hosts[host], ['ignore', 'pipe', 'pipe']);
      const said = { stdout: '', stderr: '' };
      child.stdout.on('data', (part) => {
        said.stdout += part;
      });
      child.stderr.on('data', (part) => {
        said.stderr += part;
      });
      const late = setTimeout(() => child.kill('SIGKILL'), TYPED_MS_MAX);
      const [code] = await once(child, 'close');
      clearTimeout(late);
      return { code, ...said };
    },
    async end() {
      isOver = true;
      for (const { child } of members) child?.kill('SIGCONT');
      for (const { child } of members) child?.kill('SIGTERM');
      const left = members.filter(({ child }) => child !== null);
      const gone = Promise.all(left.map(({ child }) => once(child, 'exit')));
      const inTime = await Promise.race([gone, sleep(STOP_MS, null, { ref: false })]);
      for (const { child } of members) child?.kill('SIGKILL');
      return inTime !== null;
    },
  };
}
