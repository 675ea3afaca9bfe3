// The oracle's accounts through the program: their movements into the book as a night books them,
// the acquirer's files through `tieout import settlement`, and after each stage what the program
// says beside what the oracle says. Many accounts share a database, and know nothing of each other.
// Neighbours: merchant.mjs, differences.mjs, oracle.mjs.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { NIGHTS, SETTINGS, TARIFF, TOLERANCE, textOf } from './calendar.mjs';
import { DIFFERENCES } from './differences.mjs';
import {
  COLUMNS,
  capture,
  closeBatches,
  fileOf,
  openMerchant,
  refund,
  settle,
} from './merchant.mjs';
import { openOracle } from './oracle.mjs';

export const MODULES = {
  figures: 'src/settlement/settlementStore.js',
  maps: 'src/config/mapFile.js',
  profile: 'src/gateway/document/profile.js',
  settlement: 'src/settlement/settlement.js',
  take: 'src/settlement/importAndSettle.js',
  verify: 'src/verify/verifyChainStore.js',
};

/** All kinds alone, and once all of them in one account. */
export const KINDS = [...Object.keys(DIFFERENCES), 'everything'];

export function drawMerchant(kind, seed) {
  const no = KINDS.indexOf(kind);
  if (no < 0) throw new Error(`no such kind: ${kind}`);
  const merchant = openMerchant(`K${no}-${seed}`, [no + 1, seed]);
  const { random } = merchant;
  const plain = random.between(2, 6);
  for (let at = 0; at < plain; at += 1) addPlain(merchant);
  const planted = kind === 'everything' ? Object.keys(DIFFERENCES) : [kind];
  for (const one of planted) {
    const times = random.between(1, 3);
    for (let at = 0; at < times; at += 1) DIFFERENCES[one](merchant);
  }
  closeBatches(merchant);
  return merchant;
}

/** An order with nothing wrong, most of them settled in time. */
function addPlain(merchant) {
  const { random } = merchant;
  const of = capture(merchant, { stage: random.between(0, NIGHTS.length - 1) });
  settle(merchant, of);
  if (random.chance(0.4)) settle(merchant, refund(merchant, of));
}

/**
 * Answers what differs from the oracle, each with its account and stage, and how much was compared.
 * `program` holds MODULES, `folder` takes the files.
 */
export async function runStages({ program, db, folder, log }, merchants) {
  const rules = rulesOf(program, merchants);
  const accountIds = merchants.map(({ accountId }) => accountId);
  const oracles = merchants.map(openOracle);
  const mapFile = join(folder, 'map.yaml');
  writeFileSync(mapFile, JSON.stringify({ table: 'settlement', columns: COLUMNS }));
  const place = {
    program,
    db,
    folder,
    rules,
    accountIds,
    map: program.maps.loadColumnMap(mapFile, 'settlement'),
  };
  const found = { differences: [], breaks: 0, items: 0, lines: 0, movements: 0 };
  await putLedger(db, merchants);
  for (let stage = 0; stage < NIGHTS.length; stage += 1) {
    const runId = await putNight(db, merchants, stage);
    await settleNight(place, runId, stage);
    await compareAll(place, { merchants, oracles, found }, { nights: stage + 1, files: stage });
    await takeFile(place, merchants, stage);
    await compareAll(place, { merchants, oracles, found }, { nights: stage + 1, files: stage + 1 });
    found.differences.push(...(await doubtfulMatches(place)));
    log?.(`stage ${stage + 1}: ${found.differences.length} differences`);
  }
  for (const { movements, batches } of merchants) {
    found.movements += movements.length;
    for (const { lines } of batches.values()) found.lines += lines.length;
  }
  return found;
}

function rulesOf({ settlement, profile }, merchants) {
  const tariff = merchants.flatMap(({ accountId }) =>
    TARIFF.map(({ from, millionths, fixed }) => ({
      ...{ accountId, type: 'captured', partsPerMillion: millionths, fixed, from },
      tolerance: TOLERANCE,
    })),
  );
  const { from, settleDays, holidays, cutOff, timezone } = SETTINGS;
  const settings = {
    ...{ from, settleDays, holidays, tariff, arriveDays: 3, reference: null },
    ...{ counterparty: null, bankAccounts: [], inbox: null, files: [] },
  };
  const gateway = { profile: { ...profile.sandboxProfile(), currencies: { KWD: 3 } } };
  const config = { settlement: settings, schedule: { cutOff, timezone }, gateway };
  return { config, ...settlement.settlementRules(config) };
}

async function putLedger(db, merchants) {
  const rows = merchants.flatMap(({ accountId, currency, orders }) =>
    orders.map(({ order, transaction, placedAt }) => {
      return { account: accountId, order, transaction, currency, at: placedAt };
    }),
  );
  await db.query(
    `insert into ledger.orders (account_id, order_no, currency, amount, expected, transaction_id,
       placed_at)
     select account, "order", currency, 10, 'authorised', transaction, at
     from jsonb_to_recordset($1::jsonb) as o (account text, "order" text, transaction text,
       currency text, at timestamptz)`,
    [JSON.stringify(rows)],
  );
}

/** A night that saw everything: its run, its snapshot, and the movements that it booked. */
async function putNight(db, merchants, stage) {
  const { rows } = await db.query(
    `with run as (
       insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
         settings, settings_sha256, version, created_at, finished_at, summary)
       values ($1, array[$1::date], $1, $1::date + 1, 'tied_out', 'test', '{}', 's', '0', now(),
         now(), '{}')
       on conflict do nothing returning run_id
     )
     select run_id from run union all
     select run_id from tieout.runs where business_date = $1 limit 1`,
    [NIGHTS[stage]],
  );
  const [{ run_id: runId }] = rows;
  const pull = await db.query(
    `insert into tieout.pulls (run_id, kind, as_of, finished_at, is_sealed)
     values ($1, 'night', now(), now(), true) returning pull_id`,
    [runId],
  );
  const [{ pull_id: pullId }] = pull.rows;
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state, as_of,
       pull_id, events_until)
     select $1, account, $2, 'M', 'tied_out', now(), $4, 0 from unnest($3::text[]) as a (account)`,
    [runId, NIGHTS[stage], merchants.map(({ accountId }) => accountId), pullId],
  );
  await putShown(db, merchants, pullId);
  await putMovements(db, merchants, { stage, runId });
  return runId;
}

async function putShown(db, merchants, pullId) {
  const rows = merchants.flatMap(({ accountId, shown }) =>
    shown.map(({ order, transaction }) => ({ account: accountId, order, transaction })),
  );
  await db.query(
    `insert into tieout.look_entries (pull_id, account_id, page_no, position, order_no, is_extra,
       is_asked, transaction_id, currency, amount, state, found, fraud_rejected)
     select $1, account, 1, 1, "order", false, true, transaction, 'EUR', 10, 'authorised', true,
       false
     from jsonb_to_recordset($2::jsonb) as e (account text, "order" text, transaction text)`,
    [pullId, JSON.stringify(rows)],
  );
}

async function putMovements(db, merchants, { stage, runId }) {
  const rows = merchants.flatMap(({ accountId, movements }) =>
    movements
      .filter((one) => one.stage === stage)
      .map(({ amount, on, isHistory, ...one }) => {
        const known = amount === null ? null : textOf(amount);
        return { ...one, account: accountId, amount: known, day: on, is_history: isHistory };
      }),
  );
  await db.query(
    `insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount,
       made, reference, business_date, run_id, is_history)
     select account, "order", transaction, kind, currency, amount, 'elsewhere', reference, day, $1,
       is_history
     from jsonb_to_recordset($2::jsonb) as m (account text, "order" text, transaction text,
       kind text, currency text, amount numeric, reference text, day date, is_history boolean)`,
    [runId, JSON.stringify(rows)],
  );
}

/** As the night does it, and once more: nothing may come of that. */
async function settleNight({ program, db, rules, accountIds }, runId, stage) {
  const now = new Date(`${NIGHTS[stage]}T23:59:00Z`);
  for (let time = 0; time < 2; time += 1) {
    await program.settlement.settleAccounts(db, rules, accountIds, { now, runId });
  }
}

async function takeFile({ program, db, folder, rules, accountIds, map }, merchants, stage) {
  const file = join(folder, `stage-${stage}.csv`);
  const text = fileOf(merchants, stage);
  // A report of a first line alone is refused: on such a day the acquirer sends none.
  if (text.trimEnd().split('\n').length < 2) return;
  writeFileSync(file, text);
  const now = () => new Date(`${NIGHTS[stage]}T23:59:30Z`);
  const deps = { db, config: rules.config, rules, accountIds, now };
  const result = await program.take.importAndSettle(deps, [file], { map, check: false });
  if (result.kind !== 'imported') throw new Error(JSON.stringify(result.problems));
}

async function compareAll(place, { merchants, oracles, found }, at) {
  const said = await saidOf(place);
  for (const [no, merchant] of merchants.entries()) {
    const { accountId } = merchant;
    const right = oracles[no].after(at);
    const breaks = [...right.breaks].map(([key, { currency, amount }]) => {
      return `${key} ${amount === null ? null : textOf(amount)} ${currency}`;
    });
    found.breaks += breaks.length;
    found.items += right.items.length;
    const counted = {};
    for (const key of right.breaks.keys()) {
      const kind = key.slice(key.lastIndexOf('|') + 1);
      counted[kind] = (counted[kind] ?? 0) + 1;
    }
    const wanted = {
      breaks: breaks.sort(),
      figures: { accountId, ...right.figures, breaks: counted },
      batches: right.batches.map(({ batch, currency, lines, payout }) => ({
        ...{ accountId, batch, currency, lines: lines.length, payout: textOf(payout) },
        ...{ arrived: '0.00', state: 'expected' },
      })),
      items: right.items,
    };
    found.differences.push(...differencesOf(wanted, said.of(accountId), { accountId, at }));
  }
}

/** What the program says of each account. */
async function saidOf({ program, db, rules, accountIds }) {
  const { settlementFigures, openItems } = program.figures;
  const accounts = await program.settlement.settledAccounts(db, rules, accountIds, null);
  const document = await settlementFigures(db, accounts, rules.times);
  const items = new Map();
  for await (const chunk of openItems(db, accountIds, rules.times)) {
    for (const { accountId, ...item } of chunk) put(items, accountId, item);
  }
  const breaks = new Map();
  const { rows } = await db.query(
    `select account_id, concat(order_no, '|', kind, ' ', coalesce(amount::text, 'null'), ' ',
       currency) as words
     from tieout.breaks where state = 'open' and account_id = any ($1)`,
    [accountIds],
  );
  for (const { account_id, words } of rows) put(breaks, account_id, words);
  const figures = new Map(document.accounts.map((one) => [one.accountId, one]));
  const batches = new Map();
  for (const one of document.batches) put(batches, one.accountId, one);
  return {
    of: (accountId) => ({
      breaks: (breaks.get(accountId) ?? []).sort(),
      figures: figures.get(accountId),
      batches: batches.get(accountId) ?? [],
      items: items.get(accountId) ?? [],
    }),
  };
}

/** What `verify` says of matches: that their lines and movements bear them out, whatever came when. */
async function doubtfulMatches({ program, db }) {
  const { disagreements } = await program.verify.checkChain(db, () => {});
  return disagreements
    .filter(({ what }) => what.startsWith('match of'))
    .map(({ accountId, what, state, history }) => `${accountId}: ${what}: ${state}: ${history}`);
}

function put(lists, key, value) {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
}

function differencesOf(wanted, said, { accountId, at }) {
  const where = `${accountId} after ${at.nights} nights and ${at.files} files`;
  const differences = [];
  for (const name of ['breaks', 'figures', 'batches', 'items']) {
    const [right, ours] = [inOrder(wanted[name]), inOrder(said[name])];
    if (isDeepStrictEqual(right, ours)) continue;
    differences.push(`${where}: ${name}: ${wordsOf(right, ours)}`);
  }
  for (const book of ['atGateway', 'bank']) {
    for (const { currency, closing } of said.figures[book]) {
      const sum = said.items
        .filter((item) => item.book === book && item.currency === currency)
        .reduce((all, item) => all + BigInt(item.amount.replace('.', '')), 0n);
      if (textOf(sum) !== closing) {
        differences.push(`${where}: ${book} closes at ${closing}, its items are ${textOf(sum)}`);
      }
    }
  }
  return differences;
}

/** Keys and lists in one order, whoever said them. */
function inOrder(value) {
  if (Array.isArray(value)) return value.map(inOrder).sort(byText);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, inOrder(one)]));
}

function byText(one, other) {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function wordsOf(right, ours) {
  if (!Array.isArray(right)) return `${JSON.stringify(ours)} instead of ${JSON.stringify(right)}`;
  const texts = [right, ours].map((list) => list.map((one) => JSON.stringify(one)));
  const only = (of, beside) => of.filter((one) => !beside.includes(one)).join(' ');
  return `missing ${only(texts[0], texts[1])}; invented ${only(texts[1], texts[0])}`;
}
