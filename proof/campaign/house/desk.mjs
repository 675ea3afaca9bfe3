// Somebody at a desk, with the runbook: in the middle of a night and in the morning they type what it
// says about breaks, failed jobs, business days and the workbook that came back, and read what it
// answers. None of it may stop the night, and each command ends by itself, with an answer.

import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillWorkbook } from '../../simulator/workbook.mjs';
import { asked } from './server.mjs';

const BREAKS = `select break_id::text as id from tieout.breaks where state <> 'resolved' order by 1`;
const DATES = `select distinct business_date::text as date from tieout.runs where not is_dry`;
/** Done, failed (a server was away), differs, incomplete. */
const ANSWERS = [0, 1, 3, 4];

/** [weight, name, what is typed]; null: there is nothing to type it of. */
const STEPS = [
  [2, 'breaks waive', (house) => ofBreaks(house, 'waive', '--reason', 'rounding of the shop')],
  [1, 'breaks assign', (house) => ofBreaks(house, 'assign', '--to', 'anna')],
  [1, 'breaks note', (house) => ofBreaks(house, 'note', '--text', 'asked the acquirer')],
  [1, 'breaks reopen', (house) => ofBreaks(house, 'reopen', '--reason', 'it was too early')],
  [1, 'jobs retry', () => ['jobs', 'retry', '--all']],
  [1, 'jobs discard', discarded],
  [2, 'days close', (house) => ofDay(house, 'close', '--with-earlier')],
  [1, 'days reopen', (house) => ofDay(house, 'reopen')],
  [1, 'days lock', (house) => ofDay(house, 'lock')],
  [2, 'decide', decided],
  [1, 'send', () => ['send']],
  [1, 'status --words', () => ['status', '--words']],
];
export const TYPED = STEPS.map(([, name]) => `typed: ${name}`);
const TYPED_AT_ONCE = 4;

/** The shop has another amount than the gateway from now on: something for them to look at. */
export async function mistype({ db, layouts, random }) {
  const { account_id, order_no } = random.pick(random.pick(layouts).orders);
  await asked(
    db,
    'update ledger.orders set amount = amount + 1 where account_id = $1 and order_no = $2',
    [account_id, order_no],
  );
}

export async function typeSome(house) {
  const { random, crew, tally, violations } = house;
  for (let turn = random.below(TYPED_AT_ONCE); turn >= 0; turn -= 1) {
    const [name, wordsOf] = random.weighted(STEPS.map(([w, ...one]) => [w, one]));
    const words = await Promise.resolve(wordsOf(house)).catch(() => null);
    if (words === null) continue;
    const { code, stderr } = await crew.type([...words]);
    tally.count(`typed: ${name}`);
    if (ANSWERS.includes(code)) continue;
    const said = `tieout ${words.join(' ')} ended with ${code}: ${stderr.slice(-500)}`;
    violations.push({ invariant: 'I12', words: `${house.name} ${said}` });
  }
  // What was approved by a workbook waits for nobody else.
  await crew.type(['send']);
}

async function ofBreaks({ db, random }, verb, ...more) {
  const { rows } = await asked(db, BREAKS);
  if (rows.length === 0) return null;
  const who = random.pick(['anna', 'bert']);
  return ['breaks', verb, random.pick(rows).id, random.pick(rows).id, ...more, '--as', who];
}

async function ofDay({ db, random }, verb, ...more) {
  const { rows } = await asked(db, DATES);
  if (rows.length === 0) return null;
  return ['days', verb, random.pick(rows).date, '--reason', 'by the runbook', ...more];
}

async function discarded({ crew, random }) {
  const { code, stdout } = await crew.type(['jobs', 'list', '--json']);
  const jobs = code === 0 ? JSON.parse(stdout) : [];
  return jobs.length === 0 ? null : ['jobs', 'discard', random.pick(jobs).jobId];
}

/** Any workbook that lies there, of this night or one of before, filled in. */
async function decided(house) {
  const { hosts, program, random, folder } = house;
  const books = hosts.flatMap((own) => workbooksIn(join(own, 'reports')));
  if (books.length === 0) return null;
  const bytes = await fillWorkbook(program, random.pick(books), (of) => {
    if (!random.chance(0.7)) return null;
    return of === 'break'
      ? { decision: 'note', reason: 'asked the shop' }
      : { decision: 'reject', reason: 'the customer keeps it' };
  });
  const file = join(folder, 'came-back.xlsx');
  writeFileSync(file, bytes);
  return ['decide', file, '--as', 'anna'];
}

function workbooksIn(folder) {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { recursive: true })
    .filter((name) => /reconciliation-.*\.xlsx$/.test(name))
    .map((name) => join(folder, name));
}
