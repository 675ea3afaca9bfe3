// A run that ends is told to the outside: the message is a row of the same transaction, so that
// one is never without the other. A failed job is told as well as it can be: it fails in the queue,
// not in the database. Who delivers it all, and when, is none of the run's business.

import { createHash } from 'node:crypto';
import type { Config } from '../config/config.js';
import { type AlertChannel, addressOf } from '../core/alertChannels.js';
import type { Alert, LateOrders } from '../core/alertMessages.js';
import {
  batchLate,
  fileRefused,
  headsNotSigned,
  headsSigned,
  jobFailed,
  runFailed,
  runFinished,
  sendingFrozen,
} from '../core/alertMessages.js';
import type { RunSummary } from '../core/runs/summary.js';
import type { SecurityEvent } from '../core/securityEvents.js';
import { isThrottled, securityAlert } from '../core/securityEvents.js';
import type { Db } from '../database/db.js';
import { newestNotified, putInOutbox } from './outboxStore.js';

type Notify = Pick<Config, 'notify'>;

/** The run has come to its end; told again only when its figures are other ones. */
export async function tellFinished(tx: Db, config: Notify, summary: RunSummary): Promise<void> {
  const { asOf: _, ...figures } = summary;
  await tell(tx, config, runFinished(summary), JSON.stringify({ ...figures, reports: [] }), [
    'webhook',
    'switch',
  ]);
}

/** The run broke off: told, but the switch is not reassured. */
export async function tellFailed(
  tx: Db,
  config: Notify,
  run: { businessDate: string; failure: string },
): Promise<void> {
  const alert = runFailed(run.businessDate, run.failure);
  await tell(tx, config, alert, alert.text, ['webhook']);
}

/** One message an hour and queue: the jobs after the first fail for the same reason. */
const JOB_FAILED_EVERY_MS = 3_600_000;

export async function tellJobFailed(
  db: Db,
  config: Notify,
  job: { queue: string; id: string; reason: string },
  now: Date,
): Promise<void> {
  const alert = jobFailed(job.queue, job.id, job.reason);
  const newest = await newestNotified(db, alert.event, alert.subject);
  if (newest !== null && now.getTime() - newest.getTime() < JOB_FAILED_EVERY_MS) return;
  await tell(db, config, alert, now.toISOString(), ['webhook']);
}

/** Of each freeze, in the transaction that says it. */
export async function tellFrozen(tx: Db, config: Notify, reason: string, now: Date): Promise<void> {
  const alert = sendingFrozen(reason);
  await tell(tx, config, alert, `${now.toISOString()} ${alert.text}`, ['webhook']);
}

/** Once for each state of the file, also where two clocks meet it. */
export async function tellFileRefused(
  tx: Db,
  config: Notify,
  { name, reason, mark }: { name: string; reason: string; mark: string },
): Promise<void> {
  await tell(tx, config, fileRefused(name, reason), `${mark} ${reason}`, ['webhook']);
}

/** What a night found overdue, a message an account; the same night again tells nothing new. */
export async function tellBatchLate(
  tx: Db,
  config: Notify,
  businessDate: string,
  late: readonly LateOrders[],
): Promise<void> {
  for (const accountId of new Set(late.map((one) => one.accountId))) {
    const mine = late.filter((one) => one.accountId === accountId);
    const alert = batchLate(accountId, businessDate, mine);
    await tell(tx, config, alert, alert.text, ['webhook']);
  }
}

/** Once for each run and reason. */
export async function tellHeadsNotSigned(
  db: Db,
  config: Notify,
  { businessDate, reason }: { businessDate: string; reason: string },
): Promise<void> {
  const alert = headsNotSigned(businessDate, reason);
  await tell(db, config, alert, alert.text, ['webhook']);
}

/** Each signed line, to whoever keeps it where nobody of this machine can unsay it. */
export async function tellHeadsSigned(
  db: Db,
  config: Notify,
  signed: { businessDate: string; line: string },
): Promise<void> {
  if (!config.notify.heads) return;
  await tell(db, config, headsSigned(signed), signed.line, ['webhook']);
}

/** What a stranger can bring about is told once an hour; all the rest each time. */
const SECURITY_EVERY_MS = 3_600_000;

export async function tellSecurity(
  db: Db,
  config: Notify,
  event: SecurityEvent,
  now: Date,
): Promise<void> {
  if (!config.notify.security) return;
  const alert = securityAlert(event);
  if (isThrottled(event)) {
    const newest = await newestNotified(db, alert.event, alert.subject);
    if (newest !== null && now.getTime() - newest.getTime() < SECURITY_EVERY_MS) return;
  }
  await tell(db, config, alert, `${now.toISOString()} ${alert.text}`, ['webhook']);
}

async function tell(
  tx: Db,
  config: Notify,
  alert: Alert,
  content: string,
  wanted: readonly AlertChannel[],
): Promise<void> {
  const channels = wanted.filter((channel) => addressOf(config.notify, channel) !== null);
  if (channels.length === 0) return;
  const fingerprint = createHash('sha256').update(content, 'utf8').digest('hex');
  await putInOutbox(tx, { ...alert, channels, fingerprint });
}
