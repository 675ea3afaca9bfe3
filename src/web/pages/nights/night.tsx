// The first page: does the run tie, how far is it, what waits for whom, and how the runs before
// it went. The page of an older night is the same without the parts that are about now.

import { shownState } from '../../../core/accounts/toDo.js';
import type { MoneySum } from '../../../core/money.js';
import type { Notice } from '../../../core/runs/notices.js';
import { removedLine } from '../../../core/runs/removal.js';
import { comparedNothing, runSentence } from '../../../core/runs/summary.js';
import { withSum } from '../../../core/text/amounts.js';
import type { ConsoleRun, Progress, RunMark, Waiting } from '../../../report/consoleRunsStore.js';
import {
  consoleRun,
  runMarks,
  runProgress,
  waitingCounts,
} from '../../../report/consoleRunsStore.js';
import { removalOf } from '../../../runs/runRecordStore.js';
import { waitNotices } from '../../../send/stops.js';
import type { Words } from '../../format.js';
import { OpenTrend, RunStrip, StripLegend } from '../../layout/charts.js';
import { Empty, FilterProblem, State } from '../../layout/parts.js';
import { Ask, Said } from '../../layout/said.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';
import { chosenBy, seesConfigured } from '../../visitor/filters.js';
import { reservationsAtRisk } from '../authorisations.js';
import { OVERDUE } from '../breaks/breakQuery.js';
import { Accounts } from './accounts.js';
import { changesSince } from './changes.js';
import { Notices } from './notices.js';
import { AtRisk, OpenByAge, openMoneyOf, overdueOf } from './openMoney.js';
import { runAgainOf } from './runAgain.js';

const RUNS_SHOWN = 60;

export async function tonightPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, words } = visit;
  const night = await consoleRun(deps.db, visit, null);
  if (night === null)
    return { kind: 'page', title: 'Tonight', section: 'Tonight', body: <NoRun /> };
  const isLive = night.state === 'running';
  const [marks, open, waits, stops, progress, atRisk, changes, again] = await Promise.all([
    runMarks(deps.db, visit, RUNS_SHOWN),
    openMoneyOf(visit),
    waitingCounts(deps.db, accounts),
    isLive ? [] : waitNotices(deps, accounts),
    isLive ? runProgress(deps.db, night.runId, accounts) : null,
    reservationsAtRisk(visit),
    changesSince(visit, night),
    runAgainOf(visit, night),
  ]);
  const body = (
    <>
      <Head night={night} visit={visit} />
      {again}
      {progress === null ? null : <Steps progress={progress} />}
      {atRisk}
      <Waits
        {...{ waits, stops, words }}
        overdue={overdueOf(open)}
        isAnyAtRisk={atRisk.length > 0}
      />
      {changes}
      <AtRisk open={open} visit={visit} />
      {night.summary === null ? null : <Accounts night={night} visit={visit} />}
      <History marks={marks} open={open} words={words} />
    </>
  );
  return { kind: 'page', title: 'Tonight', section: 'Tonight', body, isLive };
}

export async function runPage(all: Visit): Promise<Answer> {
  const date = dateOf(all.params.date);
  if (date === null) return NOT_FOUND;
  const account = all.query.oneOf('account', all.accounts);
  const { accountIds: accounts, problem } = chosenBy(all, { account });
  const seesAll = all.seesAll && accounts.length === all.accounts.length;
  const visit = account === null ? all : { ...all, accounts, seesAll };
  const night = problem === null ? await consoleRun(visit.deps.db, visit, date) : null;
  if (night === null) {
    const words = problem ?? (await notInNight(all, date, account));
    return words === null ? NOT_FOUND : nothingOf(date, words);
  }
  const removal = await removalOf(visit.deps.db, night.runId);
  const body = (
    <>
      <Head night={night} visit={visit} account={account} />
      {await runAgainOf(visit, night)}
      {removal && <p class="hint">{removedLine(removal)}; figures, breaks and files stay.</p>}
      {await changesSince(visit, night)}
      {night.summary === null ? null : <Accounts night={night} visit={visit} />}
      <p>
        <a href="/reports">Workbooks of all nights</a>
      </p>
    </>
  );
  return { kind: 'page', title: date, section: 'Tonight', body };
}

/** A night may lack an account that came later, or had left. */
async function notInNight(
  visit: Visit,
  date: string,
  account: string | null,
): Promise<string | null> {
  if (account === null || (await consoleRun(visit.deps.db, visit, date)) === null) return null;
  return `Account ${account} has nothing in this night.`;
}

function nothingOf(date: string, problem: string): Answer {
  const body = (
    <>
      <h1>Run of {date}</h1>
      <FilterProblem words={problem} />
      <p>
        <a href={`/nights/${date}`}>All accounts of the night</a>
      </p>
    </>
  );
  return { kind: 'page', title: date, section: 'Tonight', body };
}

function NoRun() {
  return (
    <>
      <h1>No night yet</h1>
      <Empty>
        Nothing has been compared so far. The clock begins the first night by itself; to begin one
        now
        <Ask command="tieout run" />. This page fills while it works.
      </Empty>
    </>
  );
}

function Head(props: { night: ConsoleRun; visit: Visit; account?: string | null }) {
  const { night, visit, account = null } = props;
  const { words, deps } = visit;
  const isEmpty =
    night.state === 'tied_out' && night.summary !== null && comparedNothing(night.summary);
  return (
    <>
      <h1>
        Run of {night.businessDate}
        {account === null ? '' : `: account ${account}`}{' '}
        <State {...shownState(night.state, isEmpty)} />
      </h1>
      <p class="sentence" role="status">
        <Said
          text={night.summary === null ? underWay(night) : runSentence(night.summary)}
          zone={words.zone}
        />
      </p>
      <p class="hint">
        {night.asOf === null
          ? `Begun at ${words.at(night.startedAt)}.`
          : `So it stood when the run ended, ${words.at(night.finishedAt)}; ` +
            `checked at ${words.at(night.asOf)}.`}
        {night.isWhole || account !== null ? '' : ' Only the accounts that you may see.'}
        {account === null ? null : (
          <>
            {' '}
            <a href={`/nights/${night.businessDate}`}>All accounts of the night</a>.
          </>
        )}
        {' Orders against the gateway; '}
        {deps.config.settlement === null ? (
          'fees, chargebacks and bank payouts are not known to tieout.'
        ) : (
          <>
            what the acquirer settled and paid stands under{' '}
            {seesConfigured(visit) ? <a href="/settlement">Settlement</a> : 'Settlement'}.
          </>
        )}{' '}
        {night.asOf === null ? null : (
          <a href={`/nights/${night.businessDate}/statement`}>The statement to sign</a>
        )}
      </p>
      <Notices notices={night.summary?.notices ?? []} zone={words.zone} label="To be told" />
    </>
  );
}

function underWay(night: ConsoleRun): string {
  if (night.state !== 'failed') return 'The night is under way; its figures come at the end.';
  const unsaid = night.isWhole
    ? 'no reason was recorded'
    : 'why is shown to whoever sees all of its accounts';
  return `The night failed: ${night.failure ?? unsaid}. Run it again: nothing is sent twice.`;
}

function Steps({ progress: p }: { progress: Progress }) {
  // Where nothing was sent, nothing is looked at again.
  const isReporting = p.reports > p.reportsWritten;
  const steps = [
    { name: 'Pull', done: p.pullDone, of: p.pages, at: p.pagesDone, unit: 'pages asked' },
    { name: 'Compare and plan', done: p.compared, of: 0, at: 0, unit: '' },
    {
      name: 'Send',
      done: isReporting || (p.compared && p.batches === p.batchesDone && p.confirming),
      of: p.batches,
      at: p.batchesDone,
      unit: 'batches sent',
    },
    { name: 'Confirm', done: isReporting || p.confirmed, of: 0, at: 0, unit: '' },
    {
      name: 'Report',
      done: p.reports > 0 && p.reports === p.reportsWritten,
      of: p.reports,
      at: p.reportsWritten,
      unit: 'files written',
    },
  ];
  const present = steps.findIndex(({ done }) => !done);
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">How far it is</h2>
      <ol class="steps">
        {steps.map(({ name, done, of, at, unit }, index) => (
          <li class={done ? 'done' : index === present ? 'now' : 'later'}>
            {name}: {done ? 'done' : index === present ? 'under way' : 'to come'}
            {of > 0 ? ` (${at} of ${of} ${unit})` : ''}
            {of > 0 ? <progress value={at} max={of} aria-label={`${name}: ${unit}`} /> : null}
          </li>
        ))}
      </ol>
      <p class="hint">
        This part is renewed every few seconds; without scripts, load the page again.
      </p>
    </section>
  );
}

interface Wait {
  count: number;
  /** said of one, and of many */
  what: readonly [one: string, many: string];
  who: string;
  to: string | null;
  sum?: MoneySum;
}

type Overdue = ReturnType<typeof overdueOf>;

/** Everything there may be to wait for, also what nothing waits for now. */
function waitsOf(waits: Waiting, overdue: Overdue, areStopped: boolean): Wait[] {
  return [
    {
      count: waits.unwritten,
      what: ['report could not be written', 'reports could not be written'],
      who: 'operators',
      to: '/jobs',
    },
    {
      count: waits.held - waits.kept - waits.reviews,
      what: ['instruction waits for approval', 'instructions wait for approval'],
      who: 'approvers',
      to: '/approvals',
      sum: { money: waits.heldMoney, withoutAmount: waits.unmeasured },
    },
    {
      count: waits.reviews,
      what: ['fraud review waits for approval', 'fraud reviews wait for approval'],
      who: 'approvers; no money moves',
      to: '/approvals',
    },
    {
      count: waits.kept,
      what: ['instruction is held by a setting', 'instructions are held by a setting'],
      who: 'operators: no approval frees them',
      to: '/approvals',
    },
    {
      count: waits.waivers,
      what: ['waiver waits for a second person', 'waivers wait for a second person'],
      who: 'finance, approvers',
      to: '/breaks?state=waiver_asked',
      sum: { money: waits.waiverMoney, withoutAmount: waits.waiversWithoutAmount },
    },
    {
      count: waits.unknown,
      what: ['instruction is unknown', 'instructions are unknown'],
      who: 'operators',
      to: '/instructions?state=unknown',
      sum: { money: waits.unknownMoney, withoutAmount: waits.unknownUnmeasured },
    },
    {
      count: waits.pendingPayouts,
      what: [
        'payout was taken by the gateway and is not done yet',
        'payouts were taken by the gateway and are not done yet',
      ],
      who: 'operators: no look shows what became of it',
      to: '/instructions?state=accepted',
    },
    ...openBreaksOf(waits, overdue),
    {
      count: waits.onTheirWay,
      what: ['instruction is on its way', 'instructions are on their way'],
      who: areStopped ? 'see below' : 'nobody: tieout',
      to: null,
    },
  ];
}

function openBreaksOf(waits: Waiting, overdue: Overdue): Wait[] {
  return [
    {
      count: overdue.breaks,
      what: ['open break is overdue', 'open breaks are overdue'],
      who: 'finance',
      to: `/breaks?due=${OVERDUE}`,
      sum: overdue,
    },
    {
      count: waits.unowned,
      what: ['open break has no owner', 'open breaks have no owner'],
      who: 'finance',
      to: '/breaks?owner=-',
    },
    {
      count: waits.open,
      what: ['break is open in all', 'breaks are open in all'],
      who: 'finance',
      to: '/breaks',
    },
  ];
}

interface WaitsProps {
  waits: Waiting;
  /** of accounts for which something waits that was to be sent */
  stops: readonly Notice[];
  overdue: Overdue;
  /** money that is reserved and lapses, which is told above */
  isAnyAtRisk: boolean;
  words: Words;
}

function Waits({ waits, stops, overdue, isAnyAtRisk, words }: WaitsProps) {
  const rows = waitsOf(waits, overdue, stops.length > 0).filter(({ count }) => count > 0);
  return (
    <section aria-labelledby="waits">
      <h2 id="waits">What waits for whom now</h2>
      {rows.length === 0 ? (
        <Empty>
          {isAnyAtRisk ? 'Nothing else than the reservations above' : 'Nothing'} waits for anybody.
          The workbook is under Reports.
        </Empty>
      ) : (
        <ul class="waits">
          {rows.map(({ count, what: [one, many], who, to, sum }) => {
            const what = count === 1 ? one : many;
            return (
              <li>
                <strong>{words.count(count)}</strong> {to === null ? what : <a href={to}>{what}</a>}
                {withSum('', sum ?? NO_MONEY)}
                <span class="hint"> ({who})</span>
              </li>
            );
          })}
        </ul>
      )}
      <Notices notices={stops} zone={words.zone} label="What waits to be sent" />
    </section>
  );
}

const NO_MONEY: MoneySum = { money: {}, withoutAmount: 0 };

function History(props: {
  marks: readonly RunMark[];
  open: Awaited<ReturnType<typeof openMoneyOf>>;
  words: Words;
}) {
  const { marks, open, words } = props;
  return (
    <section aria-labelledby="history">
      <h2 id="history">The nights before</h2>
      <RunStrip nights={marks} room={RUNS_SHOWN} />
      <StripLegend />
      <div class="beside">
        <OpenTrend nights={marks} />
        <OpenByAge open={open} words={words} />
      </div>
    </section>
  );
}
