// What finance and operators do by the runbook beside deciding about money (people.mjs): breaks are
// waived, given to somebody, noted and reopened; days are closed, locked and reopened; the workbook
// of a night comes back with its decisions, late, and once more; and in the morning somebody types
// `tieout send`.

import { BLIND, decideSome, deps } from './people.mjs';
import { openSpine } from './spine.mjs';
import { fillWorkbook } from './workbook.mjs';

const ANNA = { name: 'anna', isClaim: true };
const BERT = { name: 'bert', isClaim: true };
const BREAKS_AT_ONCE = 6;
const PAPERS_MAX = 3;
const SIGNED_ACCOUNTS = 5;
const APPROVED_BEFORE = 60;

const ACTIONS = [
  [3, { kind: 'waive', reason: 'rounding of the shop' }],
  [2, { kind: 'assign', owner: 'anna' }],
  [1, { kind: 'assign', owner: null }],
  [2, { kind: 'note', text: 'asked the acquirer' }],
  [2, { kind: 'reopen', reason: 'it was too early' }],
];
const SIGNINGS = [
  [5, 'closeDay'],
  [2, 'lockDay'],
  [2, 'reopenDay'],
];

export async function workByTheRunbook(wave) {
  const { draws, morning: random } = wave;
  if (draws.falls(random, 'people work on breaks')) await workOnBreaks(wave);
  if (draws.falls(random, 'people close days')) await signADay(wave);
  if (draws.falls(random, 'workbooks come back', wave.share)) await bringBack(wave);
}

/** `tieout breaks waive|assign|note|reopen`, of what was seen just now or without having looked. */
async function workOnBreaks(wave) {
  const { morning: random, db, program, tally } = wave;
  const { rows } = await db.query(
    `select break_id::text as id from tieout.breaks where state <> 'resolved' order by break_id`,
  );
  if (rows.length === 0) return;
  const ids = new Set();
  for (let turn = random.below(BREAKS_AT_ONCE); turn >= 0; turn -= 1) ids.add(random.pick(rows).id);
  const set = random.chance(0.5)
    ? await program.breaks.breakSet(db, { ids: [...ids] }, BREAKS_AT_ONCE)
    : null;
  const verdicts = await program.decideBreaks.decideBreaks(decidingDeps(wave), {
    ...{ ids: [...ids], action: random.weighted(ACTIONS), over: null },
    who: random.pick([ANNA, BERT]),
    ...(set === null ? {} : { seen: new Map(set.map((one) => [one.breakId, one])) }),
  });
  for (const { kind } of verdicts) tally.count(`a break: ${kind}`);
}

function decidingDeps(wave) {
  const newId = () => wave.morning.uuid();
  return { ...deps(wave), newId };
}

/** `tieout days close|lock|reopen`, of any date that has a run. */
async function signADay(wave) {
  const { morning: random, db, program, config, tally } = wave;
  const { rows } = await db.query(
    `select distinct business_date::text as date from tieout.runs where not is_dry order by 1`,
  );
  if (rows.length === 0) return;
  const name = random.weighted(SIGNINGS);
  const verdict = await program.days[name](db, {
    // Few of them: else a day that was closed would hardly be locked or reopened.
    accountId: random.pick(config.accounts.slice(0, SIGNED_ACCOUNTS)).accountId,
    date: random.pick(rows).date,
    who: random.pick([ANNA, BERT]),
    reason: 'the month is closed',
    withEarlier: random.chance(0.5),
    secondPerson: random.chance(0.3),
  });
  tally.count(`a day: ${name} ${verdict.kind}`);
}

/** The workbook of a night is filled by who reads it then; when it comes back, nobody knows yet. */
export async function fillPaper(wave, path) {
  const { db, morning: random, papers } = wave;
  const { rows } = await db.query(
    `select instruction_id::text as id, hold_reason from tieout.instructions where state = 'held'`,
  );
  const reasons = new Map(rows.map(({ id, hold_reason }) => [id, hold_reason]));
  const paper = await fillWorkbook(wave.program, path, (of, id) => {
    if (!random.chance(0.5)) return null;
    if (of === 'break') return random.weighted(ENTRIES);
    // What waits for another reason is looked up in the portal, one by one, as it is decided.
    const mayApprove = BLIND.has(reasons.get(id)) && random.chance(0.8);
    return mayApprove ? { decision: 'approve' } : { decision: 'reject', reason: 'kept' };
  });
  // That of a night without breaks tries nothing, and would keep a later one away.
  if (paper === null) return;
  papers.push(paper);
  if (papers.length > PAPERS_MAX) papers.shift();
}

const ENTRIES = [
  [3, { decision: 'waive', reason: 'rounding of the shop' }],
  [2, { decision: 'assign', toWhom: 'bert' }],
  [2, { decision: 'note', reason: 'asked the shop' }],
];

async function bringBack(wave) {
  const { morning: random, papers, program, tally } = wave;
  if (papers.length === 0) return;
  const bytes = random.pick(papers);
  const rows = await program.decide.decideWorkbook(decidingDeps(wave), bytes, {
    ...{ who: random.pick([ANNA, BERT]), may: null, check: false, people: [] },
  });
  for (const { result } of rows) tally.count(`a row of a workbook: ${result}`);
  if (random.chance(0.3)) papers.splice(papers.indexOf(bytes), 1);
}

/** `tieout send`, after the night: what was approved since goes, and is looked at once more. */
export async function sendInTheMorning(wave) {
  const { draws, morning: random, tally, program } = wave;
  if (!draws.falls(random, 'people send by hand')) return;
  if (draws.has('people decide')) await decideSome(wave, APPROVED_BEFORE);
  const accountIds = wave.config.accounts.map(({ accountId }) => accountId);
  const nobody = { start: async () => {}, stop: async () => {} };
  const work = async (own) => {
    const sent = await program.sendApproved
      .sendApproved(own, accountIds, nobody)
      .catch((error) => unsent(wave, error));
    tally.count('a person sent');
    tally.add('sent by a person', sent.length);
  };
  const spine = openSpine(wave, { ...wave.atTheSpine(), isQuiet: false, mustDie: false, work });
  const how = await Promise.race([spine.run(), spine.died]);
  if (how === 'died') tally.kill('a person who sent');
}

/** A setting changed between the night and the morning: the program says so and sends nothing. */
function unsent({ program, tally }, error) {
  const isUsage = error instanceof program.errors.UsageError;
  if (!isUsage || !error.message.startsWith('nothing is sent: ')) throw error;
  tally.count('a person who sent was refused');
  return [];
}
