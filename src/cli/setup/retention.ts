// `tieout retention`: how long what snapshots brought is kept. `show` lists the months that are
// there with what keeps them, and what was removed; `apply` removes those that are older than the
// rule, or says what it would remove.

import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../core/errors.js';
import { type Removal, removedLine } from '../../core/runs/removal.js';
import {
  megabytes,
  oldMonths,
  removalSentence,
  removeEvidence,
} from '../../retention/retention.js';
import type { KeptMonth, RetentionRule } from '../../retention/retentionStore.js';
import { keptFrom, keptMonths } from '../../retention/retentionStore.js';
import { removals } from '../../runs/runRecordStore.js';
import type { App } from '../app.js';
import { deciderHere, printJson, printLines, wantsJson, withApp } from '../context.js';

interface Flags {
  dryRun?: boolean;
  months?: number;
}

/** In one call; nobody has so many. */
const REMOVED_MAX = 1_000;
const QUIET = { quiet: true };

export function retentionCommand(): Command {
  const retention = new Command('retention');
  retention
    .command('show', { isDefault: true })
    .description('the months of looks that are kept, why each is, and what was removed')
    .option('--json', 'print one JSON document')
    .action((_flags: object, command: Command) =>
      withApp(command, (app) => show(app, wantsJson(command)), QUIET),
    );
  retention
    .command('apply')
    .description('remove the months that are older than retention.evidenceMonths')
    .option('--dry-run', 'say what would be removed, and remove nothing')
    .option('--months <n>', 'another number than retention.evidenceMonths, not below it', whole)
    .option('--as <name>', 'who decides (default: the user of this machine)')
    .option('--json', 'print one JSON document')
    .action((flags: Flags, command: Command) =>
      withApp(command, (app) => apply(app, flags, command), QUIET),
    );
  return retention;
}

function whole(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a whole number above 0');
}

async function show(app: App, isJson: boolean): Promise<number> {
  const { evidenceMonths } = app.config.retention;
  const from =
    evidenceMonths === null
      ? '0001-01-01'
      : await keptFrom(app.db, ruleOf(app, evidenceMonths), new Date());
  const kept = await keptMonths(app.db, from);
  const removed = await removals(app.db);
  if (isJson) printJson({ evidenceMonths, kept, removed });
  else printLines(showLines(evidenceMonths, kept, removed));
  return 0;
}

function showLines(
  months: number | null,
  kept: readonly KeptMonth[],
  removed: readonly Removal[],
): string[] {
  return [
    months === null
      ? 'What looks brought is kept for ever (retention.evidenceMonths is not given).'
      : `What looks brought is kept for ${months} whole months before this one.`,
    ...kept.map(
      ({ firstDate, lastDate, nights, looks, bytes, holds }) =>
        `${firstDate} to ${lastDate}: ${nights} nights, ${looks} looks, ${megabytes(bytes)} MB` +
        (months === null ? '' : `; ${fateOf(holds)}`),
    ),
    ...removed.map(removedLine),
  ];
}

function fateOf(holds: readonly string[]): string {
  return holds.length > 0 ? `stays: ${holds.join('; ')}` : 'can be removed';
}

async function apply(app: App, flags: Flags, command: Command): Promise<number> {
  const rule = app.config.retention.evidenceMonths;
  const months = flags.months ?? rule;
  if (months === null) {
    throw new UsageError('retention.evidenceMonths is not given: everything is kept');
  }
  if (rule === null || months < rule) {
    throw new UsageError(`--months ${months}: the configuration keeps ${rule ?? 'everything'}`);
  }
  const now = (): Date => new Date();
  const kept = ruleOf(app, months);
  if (flags.dryRun) return wouldRemove(app, kept, wantsJson(command));
  const who = await deciderHere(command, app);
  const verdicts = await removeEvidence({ db: app.db, now }, kept, who, REMOVED_MAX);
  if (wantsJson(command)) printJson(verdicts);
  else printLines(verdicts.length > 0 ? verdicts.map(removalSentence) : ['Nothing is that old.']);
  return verdicts.some(({ kind }) => kind === 'altered' || kind === 'busy') ? 1 : 0;
}

function ruleOf(app: App, months: number): RetentionRule {
  return { months, lookbackDays: app.config.reconcile.lookbackDays };
}

async function wouldRemove(app: App, rule: RetentionRule, isJson: boolean): Promise<number> {
  const from = await keptFrom(app.db, rule, new Date());
  const old = oldMonths(await keptMonths(app.db, from), from);
  const verdicts = old.map((month) => ({
    kind: month.holds.length > 0 ? ('held' as const) : ('removed' as const),
    month,
  }));
  if (isJson) printJson(verdicts.map(({ kind, month }) => ({ would: kind, month })));
  else if (verdicts.length === 0) printLines(['Nothing is that old.']);
  else printLines(verdicts.map((one) => `would have ${removalSentence(one)}`));
  return 0;
}
