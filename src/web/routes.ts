// Every page of the console with the right that it needs. The tests walk this table: each route,
// each role, each account. A page that is not in it does not exist.

import { activityPage } from './pages/activity.js';
import { auditPage, checkChains } from './pages/audit.js';
import { authorisationsPage } from './pages/authorisations.js';
import { brakeOff, brakeOn, brakePage } from './pages/brake.js';
import { causesPage } from './pages/breaks/breakCauses.js';
import {
  assignBreaks,
  noteBreaks,
  reopenBreaks,
  waiveBreaks,
} from './pages/breaks/breakDecisions.js';
import { pressSet, RIGHT_OF, setPage } from './pages/breaks/breakSets.js';
import { breakPage, breaksPage } from './pages/breaks/breaks.js';
import { breaksCsv } from './pages/breaks/breaksCsv.js';
import { SET_VERBS } from './pages/breaks/decisionWords.js';
import { closing, dayPage } from './pages/days/day.js';
import { daysPage } from './pages/days/days.js';
import { pressSignAll, SIGNING_VERBS, signAllPage } from './pages/days/signAll.js';
import { checkDecisions, decisionsPage, doDecisions } from './pages/decisions.js';
import { approvalsPage, approve, reject } from './pages/instructions/approvals.js';
import { instructionPage } from './pages/instructions/instruction.js';
import {
  instructionSetPage,
  pressInstructionSet,
  SET_DECISIONS,
  SET_RIGHTS,
} from './pages/instructions/instructionSets.js';
import { instructionsPage, replan, resolve } from './pages/instructions/instructions.js';
import { discardJobs, jobsPage, retryJobs } from './pages/jobs.js';
import { bookLinesCsv, bookLinesPage } from './pages/nights/bookLines.js';
import { changesPage } from './pages/nights/changes.js';
import { runPage, tonightPage } from './pages/nights/night.js';
import { runAgain } from './pages/nights/runAgain.js';
import { statementPage } from './pages/nights/statement.js';
import { statementLinesCsv, statementLinesPage } from './pages/nights/statementLines.js';
import { orderPage } from './pages/orders/order.js';
import { searchPage } from './pages/orders/search.js';
import { invite, turn } from './pages/people.js';
import { makePeriodReport, rewriteReport } from './pages/reportRequests.js';
import { reportFile, reportsPage } from './pages/reports.js';
import { settingsPage } from './pages/settings.js';
import { batchPage } from './pages/settlement/batch.js';
import { figureRowsCsv, figureRowsPage } from './pages/settlement/figureRows.js';
import { makeReport } from './pages/settlement/reportForm.js';
import { settlementPage, whereKept } from './pages/settlement/settlement.js';
import { checkFile, checkPage, importFile } from './pages/settlement/upload.js';
import { SECTIONS } from './sections.js';
import type { Route } from './visit.js';

/** Fields of the one form under which breaks are decided about. */
const BREAK_FIELDS = ['id', 'note', 'owner', 'words', 'seen'];

/** Of breaks, instructions, orders, statements, days and reports, which an account leaves. */
const LEFT = { unconfigured: true } as const;

/** What a route says of itself where a section is shown for these accounts. */
const SHOWN_FOR = { all: { everywhere: true }, configured: {}, left: LEFT } as const;

/** The page of a section, opened by whom it is shown to. */
function opens(section: keyof typeof SECTIONS, handle: Route['handle']): Route {
  const { path, right, of } = SECTIONS[section];
  return { method: 'GET', path, right, ...SHOWN_FOR[of], handle };
}

/** A list as a file. */
function csvOf(path: string, handle: Route['handle']): Route {
  return { method: 'GET', path: `${path}.csv`, right: 'download', ...LEFT, handle };
}

/** A list of whatever account, and the same as a file. */
function listOf(path: string, page: Route['handle'], csv: Route['handle']): Route[] {
  return [{ method: 'GET', path, right: 'look', ...LEFT, handle: page }, csvOf(path, csv)];
}

export const ROUTES: readonly Route[] = [
  opens('Tonight', tonightPage),
  { method: 'GET', path: '/nights/:date', right: 'look', ...LEFT, handle: runPage },
  {
    method: 'POST',
    path: '/nights/again',
    right: 'jobs',
    everywhere: true,
    fields: ['date'],
    handle: runAgain,
  },
  { method: 'GET', path: '/nights/:date/changes', right: 'look', ...LEFT, handle: changesPage },
  { method: 'GET', path: '/nights/:date/statement', right: 'look', ...LEFT, handle: statementPage },
  ...listOf('/nights/:date/statement/lines', statementLinesPage, statementLinesCsv),
  ...listOf('/nights/:date/statement/books', bookLinesPage, bookLinesCsv),
  opens('Breaks', breaksPage),
  csvOf('/breaks', breaksCsv),
  { method: 'GET', path: '/breaks/causes', right: 'look', ...LEFT, handle: causesPage },
  ...SET_VERBS.flatMap((verb): Route[] => [
    {
      method: 'GET',
      path: `/breaks/all/${verb}`,
      right: RIGHT_OF[verb],
      ...LEFT,
      handle: setPage(verb),
    },
    {
      method: 'POST',
      path: `/breaks/all/${verb}`,
      right: RIGHT_OF[verb],
      ...LEFT,
      ...(verb === 'assign' ? {} : { isFresh: true }),
      fields: ['words', 'seen'],
      handle: pressSet(verb),
    },
  ]),
  { method: 'GET', path: '/breaks/:id', right: 'look', ...LEFT, handle: breakPage },
  {
    method: 'POST',
    path: '/breaks/note',
    right: 'workBreaks',
    ...LEFT,
    fields: BREAK_FIELDS,
    handle: noteBreaks,
  },
  {
    method: 'POST',
    path: '/breaks/assign',
    right: 'workBreaks',
    ...LEFT,
    fields: BREAK_FIELDS,
    handle: assignBreaks,
  },
  {
    method: 'POST',
    path: '/breaks/waive',
    right: 'agreeToWaiver',
    ...LEFT,
    isFresh: true,
    fields: BREAK_FIELDS,
    handle: waiveBreaks,
  },
  {
    method: 'POST',
    path: '/breaks/reopen',
    right: 'agreeToWaiver',
    ...LEFT,
    isFresh: true,
    fields: BREAK_FIELDS,
    handle: reopenBreaks,
  },
  opens('Approvals', approvalsPage),
  {
    method: 'POST',
    path: '/approvals/approve',
    right: 'approve',
    ...LEFT,
    isFresh: true,
    fields: ['id', 'words', 'confirmed', 'sheet'],
    handle: approve,
  },
  {
    method: 'POST',
    path: '/approvals/reject',
    right: 'approve',
    ...LEFT,
    fields: ['id', 'words', 'confirmed', 'sheet'],
    handle: reject,
  },
  opens('Instructions', instructionsPage),
  ...SET_DECISIONS.flatMap((verb): Route[] => [
    {
      method: 'GET',
      path: `/instructions/all/${verb}`,
      right: SET_RIGHTS[verb],
      ...LEFT,
      handle: instructionSetPage(verb),
    },
    {
      method: 'POST',
      path: `/instructions/all/${verb}`,
      right: SET_RIGHTS[verb],
      ...LEFT,
      ...(verb === 'reject' ? {} : { isFresh: true }),
      fields: ['words', 'seen', 'finding', 'reference'],
      handle: pressInstructionSet(verb),
    },
  ]),
  { method: 'GET', path: '/instructions/:id', right: 'look', ...LEFT, handle: instructionPage },
  {
    method: 'POST',
    path: '/instructions/resolve',
    right: 'resolve',
    ...LEFT,
    isFresh: true,
    fields: ['id', 'finding', 'words', 'reference'],
    handle: resolve,
  },
  {
    method: 'POST',
    path: '/instructions/replan',
    right: 'resolve',
    ...LEFT,
    isFresh: true,
    fields: ['id', 'words'],
    handle: replan,
  },
  opens('Reservations', authorisationsPage),
  { method: 'GET', path: '/brake', right: 'look', handle: brakePage },
  {
    method: 'POST',
    path: '/brake/on',
    right: 'brake',
    anyEnvironment: true,
    fields: ['account', 'words'],
    handle: brakeOn,
  },
  {
    method: 'POST',
    path: '/brake/off',
    right: 'brake',
    isFresh: true,
    fields: ['account', 'words'],
    handle: brakeOff,
  },
  opens('Days', daysPage),
  { method: 'GET', path: '/days/:account/:date', right: 'look', ...LEFT, handle: dayPage },
  ...SIGNING_VERBS.flatMap((verb): Route[] => [
    { method: 'GET', path: `/days/all/${verb}`, right: 'closeDays', handle: signAllPage(verb) },
    {
      method: 'POST',
      path: `/days/all/${verb}`,
      right: 'closeDays',
      isFresh: true,
      fields: ['words', 'seen', 'marks'],
      handle: pressSignAll(verb),
    },
  ]),
  ...(['close', 'lock', 'reopen'] as const).map(
    (verb): Route => ({
      method: 'POST',
      path: `/days/${verb}`,
      right: 'closeDays',
      isFresh: true,
      fields: ['account', 'date', 'words', 'seen', ...(verb === 'close' ? ['earlier'] : [])],
      handle: closing(verb),
    }),
  ),
  opens('Settlement', whereKept(settlementPage)),
  {
    method: 'GET',
    path: '/settlement/rows',
    right: 'look',
    ...LEFT,
    handle: whereKept(figureRowsPage),
  },
  {
    method: 'GET',
    path: '/settlement/rows.csv',
    right: 'download',
    ...LEFT,
    handle: whereKept(figureRowsCsv),
  },
  {
    method: 'POST',
    path: '/settlement/check',
    right: 'importSettlement',
    takesFile: true,
    fields: ['upload', 'map'],
    handle: whereKept(checkFile),
  },
  {
    method: 'GET',
    path: '/settlement/check',
    right: 'importSettlement',
    handle: whereKept(checkPage),
  },
  {
    method: 'POST',
    path: '/settlement/import',
    right: 'importSettlement',
    isFresh: true,
    fields: ['sha256', 'map', 'seen'],
    handle: whereKept(importFile),
  },
  {
    method: 'POST',
    path: '/settlement/report',
    right: 'download',
    everywhere: true,
    fields: ['period'],
    handle: whereKept(makeReport),
  },
  {
    method: 'GET',
    path: '/settlement/:account/:batch',
    right: 'look',
    ...LEFT,
    handle: whereKept(batchPage),
  },
  { method: 'GET', path: '/search', right: 'look', ...LEFT, handle: searchPage },
  { method: 'GET', path: '/orders/:account/:orderNo', right: 'look', ...LEFT, handle: orderPage },
  opens('Reports', reportsPage),
  {
    method: 'POST',
    path: '/reports/make',
    right: 'download',
    everywhere: true,
    fields: ['kind', 'period'],
    handle: makePeriodReport,
  },
  {
    method: 'POST',
    path: '/reports/rewrite',
    right: 'download',
    everywhere: true,
    fields: ['id'],
    handle: rewriteReport,
  },
  { method: 'GET', path: '/reports/:id/file', right: 'download', ...LEFT, handle: reportFile },
  {
    method: 'POST',
    path: '/reports/decisions/check',
    right: 'bringDecisions',
    ...LEFT,
    takesFile: true,
    fields: ['upload'],
    handle: checkDecisions,
  },
  {
    method: 'GET',
    path: '/reports/decisions/check',
    right: 'bringDecisions',
    ...LEFT,
    handle: decisionsPage,
  },
  {
    method: 'POST',
    path: '/reports/decisions/do',
    right: 'bringDecisions',
    ...LEFT,
    isFresh: true,
    fields: ['sha256'],
    handle: doDecisions,
  },
  opens('Jobs', jobsPage),
  {
    method: 'POST',
    path: '/jobs/retry',
    right: 'jobs',
    everywhere: true,
    fields: ['job'],
    handle: retryJobs,
  },
  {
    method: 'POST',
    path: '/jobs/discard',
    right: 'jobs',
    everywhere: true,
    fields: ['job'],
    handle: discardJobs,
  },
  opens('Activity', activityPage),
  opens('Audit', auditPage),
  {
    method: 'POST',
    path: '/audit/check',
    right: 'audit',
    everywhere: true,
    fields: [],
    handle: checkChains,
  },
  opens('Settings', settingsPage),
  {
    method: 'POST',
    path: '/settings/invite',
    right: 'users',
    everywhere: true,
    isFresh: true,
    fields: ['name', 'role', 'account'],
    handle: invite,
  },
  ...(
    [
      ['disable', 'disabled'],
      ['enable', 'active'],
    ] as const
  ).map(
    ([verb, state]): Route => ({
      method: 'POST',
      path: `/settings/${verb}`,
      right: 'users',
      everywhere: true,
      isFresh: true,
      fields: ['id'],
      handle: turn(state),
    }),
  ),
];
