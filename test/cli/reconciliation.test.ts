// docs/RECONCILIATION.md held to its word, on the data of a demo: every command it shows runs, in its
// order, and says what is printed there, word for word but for names and numbers; and the figures
// of the answers agree with each other.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { tieoutHere } from '../support/cliHere.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { textOf } from '../support/sourceFiles.js';

interface Question {
  command: string;
  /** what the document prints as the answer */
  printed: string[];
}

const QUESTIONS = questionsOf(textOf('docs/RECONCILIATION.md'));
/** Before this one the document changes the tolerance and runs the night again. */
const AFTER_SECOND_RUN = 'breaks list --explained';

let house: SeparateHouse;
let folder = '';
let demo: RunSummary;
const answers = new Map<string, string>();

beforeAll(async () => {
  house = await buildSeparateHouse({ orders: 0, seed: 1 });
  folder = join(house.folder, 'gateway');
  const made = await tieoutHere(['demo', '--orders', '900', '--json'], { cwd: folder });
  expect(made.code, made.stderr).toBe(0);
  demo = JSON.parse(made.stdout) as RunSummary;
}, 240_000);
afterAll(() => house.end());

describe('the questions of a controller', () => {
  it('are answered by commands that are there', () => {
    expect(QUESTIONS.length).toBeGreaterThan(12);
    expect(QUESTIONS.filter(({ printed }) => printed.length > 0).length).toBeGreaterThan(11);
  });

  it('each of them answers on the data of the demo as the document says', async () => {
    const refund = await heldRefund();
    for (const { command, printed } of QUESTIONS) {
      if (command === AFTER_SECOND_RUN) await runAgain(refund);
      const words = wordsOf(command)
        .map((word) => (/^\d{4}-\d\d-\d\d$/.test(word) ? demo.run : word))
        .map((word) => (/^\d+$/.test(word) ? refund.id : word))
        .map((word) => (/^SO-\d/.test(word) ? refund.orderNo : word))
        .map((word) => (/^A\d{4}$/.test(word) ? refund.accountId : word));
      const answer = await run(...words);
      answers.set(command, answer);
      expect(answer.length, command).toBeGreaterThan(20);
      const shapes = answer.split('\n').map(shapeOf);
      for (const line of printed) {
        const isThere = shapes.some((shape) => shape.startsWith(shapeOf(line)));
        expect(isThere, `${command}\n\n${line}\n\nis not in\n\n${answer}`).toBe(true);
      }
    }
  }, 300_000);

  it('the figures of the answers agree', () => {
    const openAtFirst = sum(demo.accounts.map((account) => account.tie.openAfter));
    expect(firstNumber('breaks list')).toBe(openAtFirst);
    const assigned = linesOf('breaks assign', / assigned /).length;
    expect(assigned).toBeGreaterThan(0);
    expect(firstNumber('breaks list --owner anna')).toBe(assigned);
    expect(linesOf('breaks list --explained', /the ledger expects/).length).toBe(assigned);
    const waived = linesOf('breaks waive', / waived /).length;
    expect(waived).toBeGreaterThan(0);
    const ties = linesOf('runs show --tie', /open before/).map(numbersOf);
    expect(sum(ties.map(([, , , , gone = 0]) => gone))).toBe(waived);
    expect(linesOf('runs show --tie', /^nothing to compare with: it is the first/)).toHaveLength(1);
    for (const [, before = 0, opened = 0, reopened = 0, gone = 0, resolved = 0, after] of ties) {
      expect(before + opened + reopened - gone - resolved).toBe(after);
    }
    expect(linesOf('runs show --tie', /within the tolerance now/).length).toBe(assigned);
    expect(linesOf('runs show --tie', /^ {2}\+ new /).length).toBe(openAtFirst + healed());
  });
});

/** Breaks that had gone already when the demo ended: what was sent healed them. */
function healed(): number {
  return sum(demo.accounts.map((account) => account.tie.resolved));
}

interface Refund {
  id: string;
  accountId: string;
  orderNo: string;
}

async function heldRefund(): Promise<Refund> {
  const found = JSON.parse(await run('instructions', 'list', '--json')) as unknown;
  const rows = (Array.isArray(found) ? found : Object.values(found as object).flat()) as Record<
    string,
    unknown
  >[];
  const row = rows.find((one) => one.operation === 'refund' && one.state === 'held') ?? {};
  const id = String(row.id ?? row.instructionId);
  return { id, accountId: String(row.accountId), orderNo: String(row.orderNo) };
}

/** A person approves the refund, it is sent, and with a wider tolerance the same night runs again. */
async function runAgain(refund: Refund): Promise<void> {
  await run('instructions', 'approve', refund.id, '--as', 'dora');
  await run('send');
  const file = join(folder, 'tieout.yaml');
  const config = readFileSync(file, 'utf8');
  expect(config).toContain('above: "0.00"');
  writeFileSync(file, config.replace('above: "0.00"', 'above: "10.00"'));
  const ended = await tieoutHere(['run', '--date', demo.run, '--json'], { cwd: folder });
  // Exit 3: broken orders are a night that ran.
  expect([0, 3], ended.stderr).toContain(ended.code);
}

async function run(...args: string[]): Promise<string> {
  const ended = await tieoutHere(args, { cwd: folder });
  expect(ended.code, `${args.join(' ')}: ${ended.stderr}`).toBe(0);
  return ended.stdout;
}

/** Each command of the document with the lines that are printed under it. */
function questionsOf(text: string): Question[] {
  const questions: Question[] = [];
  for (const line of text.split('\n')) {
    const shown = /^ {4}(.+)$/.exec(line)?.[1];
    if (shown === undefined) continue;
    const command = /^tieout (.+)$/.exec(shown)?.[1];
    if (command !== undefined) questions.push({ command, printed: [] });
    else if (shown.trim() !== '...') questions.at(-1)?.printed.push(shown.trim());
  }
  return questions;
}

/** A line without what differs from demo to demo; up to `...` where it is cut. */
function shapeOf(line: string): string {
  return line
    .replace(/ ?\.\.\.$/, '')
    .trim()
    .replace(/ {2,}/g, '  ')
    .replace(/\d{4}-\d\d-\d\dT\S+/g, 'TIME')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replace(/\d{4}-\d\d-\d\d/g, 'DATE')
    .replace(/\b[0-9a-f]{12}\b/g, 'DIGEST')
    .replace(/\b(SO|PHONE|RF|T|A)-?\d[\d-]*/g, 'ID')
    .replace(/\b(EUR|USD|JPY|PLN|GBP)\b/g, 'MONEY')
    .replace(
      /\b(authorised|captured|cancelled|declined|partially[_ ]refunded|refunded)\b/g,
      'STATE',
    )
    .replace(/[+-]?\d[\d.]*(?:,\d{3}[\d.]*)*/g, '0')
    .replace(/0 MONEY(, 0 MONEY)*/g, '0 MONEY')
    .replace(/\b(break|order)s\b/g, '$1')
    .replace(/\(?(Returned|Damaged in transit|Wrong size|Changed mind)\)?/g, 'REASON')
    .replace(/\b(night|fresh|confirm) look\b/g, 'a look')
    .replace(/, placed TIME,?/, ', placed TIME')
    .replace(/\s+/g, ' ');
}

function linesOf(start: string, pattern: RegExp): string[] {
  const texts = [...answers].filter(([command]) => command.startsWith(start));
  return texts.flatMap(([, text]) => text.split('\n').filter((line) => pattern.test(line)));
}

function firstNumber(command: string): number {
  return numbersOf(answers.get(command) ?? '')[0] ?? Number.NaN;
}

function numbersOf(text: string): number[] {
  return [...text.matchAll(/\d+/g)].map(([number]) => Number(number));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Words of a command line; 'in quotes' is one. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
