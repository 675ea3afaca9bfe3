// A command in the process of its test: what it prints and how it ends, without the start of a process,
// which is most of what a short command costs. For tests of what a command says; what a process is
// (its streams, its signals, what is left when it dies) is tested on the built program. Neighbour: cli.ts.

import { runCommand } from '../../src/app/program.js';
import type { CliOptions, Ended } from './cli.js';

/** One at a time: the folder, the variables and the exit code are those of the whole process. */
let turn: Promise<unknown> = Promise.resolve();

/** As `tieout` of cli.ts, for a command that ends by itself. */
export function tieoutHere(
  args: readonly string[],
  options: Pick<CliOptions, 'cwd' | 'env'>,
): Promise<Ended> {
  const mine = turn.then(() => run(args, options));
  turn = mine.catch(() => {});
  return mine;
}

async function run(
  args: readonly string[],
  { cwd, env }: Pick<CliOptions, 'cwd' | 'env'>,
): Promise<Ended> {
  const before = { folder: process.cwd(), env: { ...process.env }, code: process.exitCode };
  const streams = [process.stdout, process.stderr].map(listenTo);
  process.chdir(cwd);
  Object.assign(process.env, env);
  process.exitCode = 0;
  try {
    // As text, as a process has them.
    await runCommand(args.map(String));
    const [stdout = '', stderr = ''] = streams.map(({ said }) => said());
    return { code: Number(process.exitCode), stdout, stderr };
  } finally {
    for (const { leave } of streams) leave();
    process.exitCode = before.code;
    for (const name of Object.keys(env ?? {})) delete process.env[name];
    Object.assign(process.env, before.env);
    process.chdir(before.folder);
  }
}

/** What is written meanwhile is kept, and not passed on. */
function listenTo(stream: NodeJS.WriteStream): { said(): string; leave(): void } {
  const { write } = stream;
  const pieces: string[] = [];
  const keep = (piece: string | Uint8Array, ...rest: unknown[]): boolean => {
    pieces.push(typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8'));
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
  stream.write = keep as typeof write;
  return {
    said: () => pieces.join(''),
    leave: () => {
      stream.write = write;
    },
  };
}
