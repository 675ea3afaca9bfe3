// Runs one program to its end as a process of its own: wall time from start to exit, and the
// highest memory it ever had and its processor time, which it reports when it leaves (peak.mjs).

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PEAK = fileURLToPath(new URL('peak.mjs', import.meta.url));
/** A night that ends with breaks exits with 3 (docs: exit codes); that is a whole night. */
const WHOLE_NIGHT = [0, 3];

const running = new Set();

/** Ends what is still running of the processes that were started here. */
export function stopAll(signal = 'SIGKILL') {
  for (const child of running) child.kill(signal);
}

/** Starts node; the caller listens to the process. */
export function start(args, stdio) {
  const child = spawn(process.execPath, args, { stdio });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Runs node with these arguments; the last line of its standard output is JSON. */
export async function measure(args) {
  const began = Date.now();
  const from = performance.now();
  const child = start(['--import', PEAK, ...args], ['ignore', 'pipe', 'pipe', 'pipe']);
  const [out, err, peak] = [1, 2, 3].map((fd) => textOf(child.stdio[fd]));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const wallMs = performance.now() - from;
  if (!WHOLE_NIGHT.includes(code)) throw new Error(`exit ${code}\n${await err}`);
  const answer = JSON.parse((await out).trim().split('\n').at(-1));
  const [peakKb, cpuMs] = (await peak).split(' ').map(Number);
  return { began, wallMs, cpuMs, peakMb: peakKb / 1024, answer, log: await err };
}

async function textOf(stream) {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  return text;
}
