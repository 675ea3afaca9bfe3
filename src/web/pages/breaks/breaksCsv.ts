// The list of breaks as CSV, with the filters and the order of the page.

import { LISTED_BREAKS } from '../../../../reports/columns.js';
import type { BreakSort, FoundBreak } from '../../../breaks/breaksStore.js';
import { BREAK_SORTS, countUpTo, findBreaks } from '../../../breaks/breaksStore.js';
import { dueDate, isOverdue } from '../../../core/breaks/dueDate.js';
import type { BreakRow } from '../../../core/runs/reporting.js';
import { countText } from '../../../core/text/amounts.js';
import { openBreakRow } from '../../../report/reportRowsStore.js';
import type { Answer, Visit } from '../../visit.js';
import { refused } from '../../visit.js';
import { typedWords } from '../../visitor/draft.js';
import { CSV_ROWS_MAX, csvAnswer } from '../csvLists.js';
import type { Clock } from './breakQuery.js';
import { chosenKeys, clockOf, filterOf, filterProblem } from './breakQuery.js';

/** A count stops here. */
const COUNTED_MAX = 100_000;

export async function breaksCsv(visit: Visit): Promise<Answer> {
  const { deps, accounts, query } = visit;
  const problem = filterProblem(query, accounts);
  if (problem !== null) return refused(problem);
  const clock = clockOf(visit);
  const filter = filterOf(query, accounts, clock);
  const sort = query.oneOf<BreakSort>('sort', BREAK_SORTS) ?? 'age';
  const page = { sort, offset: 0, limit: CSV_ROWS_MAX + 1 };
  const found = await findBreaks(deps.db, filter, page);
  const isCut = found.length > CSV_ROWS_MAX;
  const counted = isCut ? await countUpTo(deps.db, filter, COUNTED_MAX) : found.length;
  const more = counted > COUNTED_MAX ? 'more than ' : '';
  return csvAnswer(visit, {
    name: 'breaks',
    subject: `breaks: ${await typedWords({ db: deps.db, accounts }, chosenKeys(query))}`,
    table: LISTED_BREAKS,
    rows: found.slice(0, CSV_ROWS_MAX).map((one) => rowOf(one, clock)),
    all: more + countText(Math.min(counted, COUNTED_MAX)),
    isCut,
  });
}

function rowOf(found: FoundBreak, { now, rule }: Clock): BreakRow {
  const isOpen = found.state === 'open';
  const row = openBreakRow(
    {
      ...{ break_id: found.breakId, account_id: found.accountId, order_no: found.orderNo },
      ...{ kind: found.kind, first_seen: found.firstSeen, owner: found.owner, note: found.note },
      ...{ expected: found.expected, actual: found.actual, currency: found.currency },
      ...{ stake: found.stake, settled_refunds: found.settledRefunds, refused: found.refused },
      waiver_asked_by: found.waiverAskedBy,
      waiver_asked_reason: found.waiverAskedReason,
    },
    { at: now, timezone: rule.timezone },
  );
  return {
    ...row,
    state: found.state,
    due: isOpen ? dueDate(found.firstSeen, rule) : null,
    isOverdue: isOpen && isOverdue(found.firstSeen, now, rule),
  };
}
