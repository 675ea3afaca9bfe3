// What a reader of a report needs to know to trust it: of which run and look, made by which
// program under which settings, from which inputs.

import { comparedWith } from '../breaks/changedStore.js';
import type { AboutData } from '../core/runs/reporting.js';
import type { RunSummary } from '../core/runs/summary.js';
import type { SendDeps } from '../send/deps.js';
import type { Digests } from './keptReportsStore.js';
import { originsOf } from './manifest.js';
import { runAbout } from './reportRowsStore.js';
import type { ReportRow } from './reportsStore.js';

/** Reports need no gateway and no queue. */
export type ReportDeps = Pick<SendDeps, 'db' | 'config' | 'version'> & {
  log?: SendDeps['log'];
  /** a worker's own process */
  runner?: SendDeps['runner'];
  /** when a run is to begin, as local times around a time */
  localTicks: (around: Date) => Promise<string[]>;
};

/** As config/view.ts kept them with the run: a report that is written later is decided by those. */
interface RecordedSettings {
  schedule: { timezone: string; cutOff: string };
  gateway: { baseUrl: string };
  reconcile: Record<'lookbackDays' | 'graceHours' | 'staleAuthorisationDays', number> & {
    tolerance: Record<'below' | 'above' | 'partsPerMillion', string>;
  };
  operations: { mode: Record<string, string> };
}

export async function aboutOf(
  deps: ReportDeps,
  report: ReportRow,
  summary: RunSummary,
  digests: Digests,
): Promise<AboutData> {
  const { server, inputsHash, settings, settingsSha256 } = await runAbout(deps.db, report.runId);
  const { schedule } = settings as RecordedSettings;
  const before = await comparedWith(deps.db, report.runId, accountIdsOf(summary));
  const dates = before.flatMap(({ businessDate }) => businessDate ?? []).sort();
  return {
    environment: summary.environment,
    businessDate: summary.businessDate,
    timezone: schedule.timezone,
    cutOff: schedule.cutOff,
    asOf: new Date(summary.asOf),
    createdAt: report.createdAt,
    revision: report.revision,
    inputsHash,
    previousRun: dates.at(-1) ?? null,
    ...originsOf(digests),
    versions: [
      ['tieout', deps.version],
      ['PostgreSQL', server],
      ['Node.js', process.version],
    ],
    profileHash: settingsSha256,
    digests,
    // the books in the file are by the rules of today
    keepsSettlement: deps.config.settlement !== null,
    consoleAddress: deps.config.web.address?.replace(/\/+$/, '') ?? null,
    parameters: parametersOf(settings as RecordedSettings, summary),
  };
}

function parametersOf(
  { gateway, reconcile, operations }: RecordedSettings,
  summary: RunSummary,
): AboutData['parameters'] {
  const { tolerance } = reconcile;
  return [
    ['Gateway', gateway.baseUrl],
    ['Accounts', accountIdsOf(summary).join(', ')],
    ['Covers', summary.covers.join(', ')],
    ['Look-back (days)', String(reconcile.lookbackDays)],
    ['Grace (hours)', String(reconcile.graceHours)],
    ['Stale authorisation (days)', String(reconcile.staleAuthorisationDays)],
    ['Tolerance below / above', `${tolerance.below} / ${tolerance.above}`],
    ['Tolerance (parts per million)', tolerance.partsPerMillion],
    ...Object.entries(operations.mode).map(([name, mode]) => [`Sending of ${name}`, mode] as const),
  ];
}

function accountIdsOf(summary: RunSummary): string[] {
  return summary.accounts.map((account) => account.accountId);
}
