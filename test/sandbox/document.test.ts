// docs/SANDBOX.md as a session: every command of it is run in a shell, from top to bottom, and
// prints what the page says. What the page lists is held against the data it describes.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_CARDS } from '../../src/sandbox/book/cards.js';
import { CONTENT_FAULTS } from '../../src/sandbox/faults/faults.js';
import { sandboxKey } from '../../src/sandbox/seed/seedPlan.js';
import { compileProgram, type Program, type SandboxChild, startChild } from './startedSandbox.js';

const PAGE = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/SANDBOX.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
const PRINTS = '#> ';
const MARK = '--- next step ---';
const hasCurl = spawnSync('curl', ['--version']).status === 0;

interface Step {
  readonly command: string;
  readonly prints: readonly string[];
}

/** Commands up to and with the lines that say what they print. */
function stepsOf(block: string): Step[] {
  const steps: Step[] = [];
  let [command, prints]: [string[], string[]] = [[], []];
  for (const line of [...block.trimEnd().split('\n'), '']) {
    const isPrinted = line.startsWith(PRINTS);
    if (!isPrinted && prints.length > 0) {
      steps.push({ command: command.join('\n'), prints });
      [command, prints] = [[], []];
    }
    if (isPrinted) prints.push(line.slice(PRINTS.length));
    else if (line !== '') command.push(line);
  }
  return command.length > 0 ? [...steps, { command: command.join('\n'), prints }] : steps;
}

describe.skipIf(!hasCurl)('the session of docs/SANDBOX.md', () => {
  const steps = BLOCKS.flatMap(stepsOf);
  let program: Program;
  let sandbox: SandboxChild;
  let outputs: string[];

  beforeAll(async () => {
    program = compileProgram();
    sandbox = await startChild(program, ['--port', '0']);
    const commands = steps.map(({ command }) => command).join(`\necho '${MARK}'\n`);
    const script = commands.replace(/^BASE=.*$/m, `BASE=${sandbox.baseUrl}`);
    const run = spawnSync('sh', ['-eu'], { input: script, encoding: 'utf8', timeout: 60_000 });
    expect(run.stderr).toBe('');
    outputs = run.stdout.split(`${MARK}\n`);
  });
  afterAll(async () => {
    await sandbox.end('SIGTERM');
    program.remove();
  });

  it('runs to its end', () => {
    expect(outputs).toHaveLength(steps.length);
    expect(steps.filter(({ prints }) => prints.length > 0).length).toBeGreaterThan(15);
  });

  it.each(steps.filter(({ prints }) => prints.length > 0))(
    'prints what it says: $prints',
    (step) => {
      const output = outputs[steps.indexOf(step)] ?? '';
      for (const printed of step.prints) expect(output).toContain(printed);
    },
  );
});

describe('docs/SANDBOX.md', () => {
  it('has the key that the sandbox really has', () => {
    expect(PAGE).toContain(`KEY=${sandboxKey(1, 'A1001')} `);
  });

  it.each(TEST_CARDS)('names the card $number', ({ number }) => {
    expect(PAGE).toContain(number);
  });

  it.each([...CONTENT_FAULTS, 'drop', 'status', 'redirect', 'truncate', 'slow', 'drip', 'half'])(
    'names the fault %s',
    (kind) => expect(PAGE).toContain(`\`${kind}\``),
  );

  it('names every option of the command', () => {
    const command = join(resolve(import.meta.dirname, '../..'), 'src/cli/gateway/sandbox.ts');
    const options = [...readFileSync(command, 'utf8').matchAll(/option\(\s*'(--[a-z]+)/g)];
    expect(options.length).toBeGreaterThan(7);
    for (const [, option] of options) expect(PAGE).toContain(`\`${option}`);
  });
});
