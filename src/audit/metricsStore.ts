// The figures by which a monitor sees whether tieout is well: one statement over what the runs
// left behind, whichever process asks. It judges nothing; web/metrics.ts gives it names.

import type { RunState } from '../core/runs/summary.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** So many of something of an account; '' stands for all accounts. */
export interface Count {
  accountId: string;
  name: string;
  count: number;
}

export interface MetricFigures {
  newest: { date: string; state: RunState; beganAt: Date } | null;
  finished: {
    date: string;
    finishedAt: Date;
    seconds: number;
    pages: number;
    failedPages: number;
    orders: number;
  } | null;
  /** open ones by kind */
  breaks: Count[];
  /** unfinished ones by state */
  instructions: Count[];
  oldestUnknown: Date | null;
  /** why nothing is sent: brake, freeze, breaker, observed, no_history */
  stops: Count[];
}

interface RawCount {
  account_id: string;
  name: string;
  count: number;
}

export async function readMetricFigures(
  db: Db,
  accountIds: readonly string[],
): Promise<MetricFigures> {
  const { rows } = await db.query<{
    newest: { business_date: string; state: RunState; created_at: string } | null;
    finished: {
      business_date: string;
      finished_at: string;
      seconds: number;
      pages: number;
      failed_pages: number;
      orders: number | null;
    } | null;
    breaks: RawCount[];
    instructions: RawCount[];
    oldest_unknown: Date | null;
    stops: RawCount[];
  }>(statement('audit/metrics'), [accountIds]);
  const row = rows[0];
  if (!row) throw new Error('the database says nothing of its nights');
  const { newest, finished } = row;
  return {
    newest: newest && {
      date: newest.business_date,
      state: newest.state,
      beganAt: new Date(newest.created_at),
    },
    finished: finished && {
      date: finished.business_date,
      finishedAt: new Date(finished.finished_at),
      seconds: finished.seconds,
      pages: finished.pages,
      failedPages: finished.failed_pages,
      orders: finished.orders ?? 0,
    },
    breaks: row.breaks.map(countOf),
    instructions: row.instructions.map(countOf),
    oldestUnknown: row.oldest_unknown,
    stops: row.stops.map(countOf),
  };
}

function countOf({ account_id: accountId, name, count }: RawCount): Count {
  return { accountId, name, count };
}
