// What is to be told to the outside, as rows (migrations/0025): written in the transaction of what
// they tell, taken by one process at a time, kept when nobody could be told. It posts nothing.
// Neighbours: outbox/writeAlerts.ts writes, alerts/deliverAlerts.ts takes, alerts/watchRuns.ts
// finds what waits.

import { ALERT_CHANNELS, type AlertChannel, getsOf } from '../core/alertChannels.js';
import type { Alert, AlertEvent, WaitingUnknown } from '../core/alertMessages.js';
import { PAUSES_SECONDS } from '../core/alertMessages.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

const PAUSE_SECONDS_MAX = Math.max(...PAUSES_SECONDS);

interface OutgoingAlert extends Alert {
  channels: readonly AlertChannel[];
  /** equal to that of the channel's newest message of this event and subject: not told again */
  fingerprint: string;
  /** the instruction events it tells of */
  about?: readonly bigint[];
}

/** Answers how many messages that made. A ping is sent each time. */
export async function putInOutbox(tx: Db, alert: OutgoingAlert): Promise<number> {
  const { rowCount } = await tx.query(
    `insert into tieout.outbox (channel, event, subject, fingerprint, about, body)
     select channel, $2, $3, $4, $5::bigint[], $6::jsonb
     from unnest($1::text[]) as wanted (channel)
     where channel = any ($7::text[]) or $4 is distinct from (
       select fingerprint from tieout.outbox told
       where event = $2 and subject = $3 collate "C" and told.channel = wanted.channel
       order by seq desc limit 1)`,
    [
      alert.channels,
      alert.event,
      alert.subject,
      alert.fingerprint,
      (alert.about ?? []).map(String),
      JSON.stringify({ text: alert.text, ...alert.details }),
      ALERT_CHANNELS.filter((channel) => getsOf(channel) === 'ping'),
    ],
  );
  return rowCount;
}

/** One watcher at a time, until the transaction ends; false: another one is at it. */
export async function watchAlone(tx: Db): Promise<boolean> {
  const { rows } = await tx.query<{ mine: boolean }>(
    "select pg_try_advisory_xact_lock(hashtext('tieout.outbox')) as mine",
  );
  return rows[0]?.mine === true;
}

/** When a message of this event and subject was last written. */
export async function newestNotified(
  db: Db,
  event: AlertEvent,
  subject: string,
): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date }>(
    `select created_at as at from tieout.outbox
     where event = $1 and subject = $2 collate "C" order by seq desc limit 1`,
    [event, subject],
  );
  return rows[0]?.at ?? null;
}

export interface OutboxMessage {
  messageId: string;
  channel: AlertChannel;
  event: AlertEvent;
  subject: string;
  body: Record<string, unknown>;
  createdAt: Date;
  /** this one included */
  tries: number;
}

/** Takes what is due, oldest first; nobody else gets it for so many seconds. */
export async function takeDue(
  db: Db,
  countMax: number,
  leaseSeconds: number,
): Promise<OutboxMessage[]> {
  const { rows } = await db.query<{
    message_id: string;
    channel: AlertChannel;
    event: AlertEvent;
    subject: string;
    body: Record<string, unknown>;
    created_at: Date;
    tries: number;
  }>(
    `update tieout.outbox set tries = tries + 1,
       next_try_at = clock_timestamp() + make_interval(secs => $2)
     where message_id in (
       select message_id from tieout.outbox
       where state = 'waiting' and (next_try_at <= clock_timestamp()
         -- further ahead than any pause: written by a clock that was ahead
         or next_try_at > clock_timestamp() + make_interval(secs => $3))
       order by seq limit $1 for update skip locked)
     returning message_id, channel, event, subject, body, created_at, tries`,
    [countMax, leaseSeconds, PAUSE_SECONDS_MAX],
  );
  return rows.map(({ message_id: messageId, created_at: createdAt, ...row }) => {
    return { messageId, createdAt, ...row };
  });
}

export type Delivery =
  | { kind: 'delivered' }
  | { kind: 'again'; problem: string; inSeconds: number }
  | { kind: 'failed'; problem: string };

/** Writes down how a try went; nothing where another process has taken the message meanwhile. */
export async function noteDelivery(
  db: Db,
  { messageId, tries }: Pick<OutboxMessage, 'messageId' | 'tries'>,
  delivery: Delivery,
): Promise<void> {
  const again = delivery.kind === 'again';
  await db.query(
    `update tieout.outbox set state = $3, problem = $4,
       next_try_at = clock_timestamp() + make_interval(secs => $5),
       ended_at = case when $3 <> 'waiting' then clock_timestamp() end
     where message_id = $1 and tries = $2 and state = 'waiting'`,
    [
      messageId,
      tries,
      again ? 'waiting' : delivery.kind,
      delivery.kind === 'delivered' ? null : delivery.problem,
      again ? delivery.inSeconds : 0,
    ],
  );
}

/** Old messages that have come to an end; they are told or given up, and of no more use. */
export async function forgetOld(db: Db, days: number): Promise<void> {
  await db.query(
    `delete from tieout.outbox
     where state <> 'waiting' and ended_at < clock_timestamp() - make_interval(days => $1)`,
    [days],
  );
}

export interface OutboxFigures {
  waiting: number;
  failed: number;
  oldestWaiting: Date | null;
  /** why the newest try failed, of those that did */
  problem: string | null;
}

export async function outboxFigures(db: Db): Promise<OutboxFigures> {
  const { rows } = await db.query<{
    waiting: bigint;
    failed: bigint;
    oldest_waiting: Date | null;
    problem: string | null;
  }>(
    `select count(*) filter (where state = 'waiting') as waiting,
       count(*) filter (where state = 'failed') as failed,
       min(created_at) filter (where state = 'waiting') as oldest_waiting,
       (array_agg(problem order by seq desc) filter (where problem is not null))[1] as problem
     from tieout.outbox where state <> 'delivered'`,
  );
  const row = rows[0];
  return {
    waiting: Number(row?.waiting ?? 0n),
    failed: Number(row?.failed ?? 0n),
    oldestWaiting: row?.oldest_waiting ?? null,
    problem: row?.problem ?? null,
  };
}

/** Unknown since before `before`, and in no message yet; with the event that made it so. */
export async function unnotifiedUnknowns(
  db: Db,
  before: Date,
): Promise<(WaitingUnknown & { eventSeq: bigint })[]> {
  const { rows } = await db.query<{
    instruction_id: bigint;
    account_id: string;
    operation: string;
    currency: string;
    amount: string | null;
    since: Date;
    event_seq: bigint;
  }>(statement('outbox/unnotifiedUnknowns'), [before]);
  return rows.map((row) => ({
    instructionId: row.instruction_id,
    accountId: row.account_id,
    operation: row.operation,
    currency: row.currency,
    amount: row.amount,
    since: row.since,
    eventSeq: row.event_seq,
  }));
}
