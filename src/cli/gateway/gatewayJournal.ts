// Writes a call that moves money down before its first byte, and what became of it afterwards, so
// that a run that finds the effect can name who made it. A brake stops it like any other, and it
// goes within the time of a claim or not at all. Of the body only its digest and what it names are
// kept: ids, amounts, currencies; never a card, a name or an address.

import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { InputError } from '../../core/errors.js';
import { brakeWords } from '../../core/instructions/breaker.js';
import type { Decider } from '../../core/instructions/decider.js';
import { cutText } from '../../core/text/heldText.js';
import type { Database, Db } from '../../database/db.js';
import { BATCH_SHAPES } from '../../gateway/document/messages.js';
import type { PaymentClient } from '../../gateway/payments/paymentClient.js';
import type {
  CalledEntry,
  EarlierCall,
  NewCall,
  UnderWay,
} from '../../instructions/gatewayCallsStore.js';
import {
  beginCall,
  calledBefore,
  endCall,
  lostPayout,
  underWay,
} from '../../instructions/gatewayCallsStore.js';
import { awaitClaims, sendingStatuses } from '../../send/batches/sendingStatusStore.js';
import type { JournalGuard } from '../../send/journal/journalGuard.js';
import { notWritten } from '../../send/journal/journalTrouble.js';
import type { PermitLine } from '../../send/journal/permitSegments.js';
import type { Clocks, Moment } from '../../send/sendBudget.js';
import { isInBudget, momentOf } from '../../send/sendBudget.js';
import { type CallName, type CallReport, movesMoney } from './gatewayCall.js';

type Fields = Readonly<Record<string, unknown>>;

/** Fields by which a movement of money is found again. */
const KEPT = [
  'order_no',
  'transaction_id',
  'request_id',
  'recurring_id',
  'amount',
  'currency',
  'refund_amount',
  'review_flag',
  'payment_amount',
  'payment_currency',
];
/** As long as an id of the ledger may be: one that is cut is found by nobody. */
const TEXT_CHARS_MAX = 512;

export interface Journal {
  /** The client that writes down before it sends. */
  client: PaymentClient;
  /** Says what became of the call, where one was written down. */
  end: (report: CallReport) => Promise<void>;
}

interface JournalDeps extends Clocks {
  db: Database;
  /** of this host, so that a database that goes back behind the call lacks its permit */
  journal?: Pick<JournalGuard, 'verify' | 'append' | 'awaited' | 'mayClaim'>;
}

export function journalled(
  deps: JournalDeps,
  client: PaymentClient,
  call: { operation: CallName; by: Decider; fields: Fields },
): Journal {
  const { db, journal: permits } = deps;
  let permit: PermitLine | null = null;
  if (!movesMoney(call.operation)) return { client, end: async () => {} };
  return {
    client: {
      ...client,
      postOnce: async (account, request) => {
        const { accountId } = account;
        // A host that others wait for may have sent just this.
        const unfit = (await permits?.verify()) ?? (await permits?.awaited()) ?? null;
        if (unfit !== null) throw nothingSent(unfit);
        await refuseBraked(db, accountId);
        // The connection stands by then, which may have taken hours where a machine slept.
        return client.postOnce(account, request, async () => {
          const { operation, by } = call;
          const entries = namedEntries(operation, call.fields);
          const bodySha256 = createHash('sha256').update(request.body).digest('hex');
          const permitId = randomUUID();
          const host = hostname();
          const made = { accountId, operation, by, host, bodySha256, entries, permitId };
          const { id, began } = await recordPermitted(deps, made);
          permit = permitOf(made, id);
          // After the call is on record: a batch that is claimed from now on sees it.
          await refuseUnderWay(db, made);
          await refuseCalledBefore(db, id, made);
          await refuseLost(db, made);
          try {
            await permits?.append(permit);
          } catch (error) {
            await refuse(db, made, notWritten(error));
          }
          return () => isInBudget(deps, began);
        });
      },
    },
    end: async ({ kind, reason, status }) => {
      if (permit === null) return;
      if (kind === 'rejected' || kind === 'not_sent') {
        // Without it a database that loses the call has to take it for made, perhaps.
        await permits?.append({ ...permit, entries: [], outcome: kind }).catch(() => {});
      }
      await endCall(db, permit.attemptId, { outcome: kind, reason, httpStatus: status });
    },
  };
}

/**
 * On record as a batch is claimed: permitted and committed in one transaction, from which on it has
 * as long as a claim. No claim is being made meanwhile: one from before is seen as sending by what
 * is asked next, and one from behind sees the call.
 */
async function recordPermitted(
  deps: JournalDeps,
  call: NewCall,
): Promise<{ id: bigint; began: Moment }> {
  return deps.db.durably(async (tx) => {
    await awaitClaims(tx);
    const began = momentOf(deps);
    await refuseBraked(tx, call.accountId);
    const unfit = (await deps.journal?.mayClaim(tx)) ?? null;
    if (unfit !== null) throw nothingSent(unfit.reason);
    return { id: await beginCall(tx, call), began };
  });
}

/** A freeze, too: where the books may have forgotten what was sent, nobody knows what is left. */
async function refuseBraked(db: Db, accountId: string): Promise<void> {
  const [status] = await sendingStatuses(db, [accountId]);
  const brake = status?.brakes[0];
  if (brake) throw nothingSent(brakeWords(brake));
}

function nothingSent(reason: string): InputError {
  return new InputError(`nothing is sent, not by hand either: ${reason}`);
}

/** What tieout itself may be doing in this moment, or has paid, is not done beside it. */
async function refuseUnderWay(db: Db, call: NewCall): Promise<void> {
  const found = await underWay(db, call.accountId, call.entries);
  if (found === null) return;
  await refuse(db, call, underWayWords(found));
}

/** What a person did, or may have done, by hand already is not done by hand once more. */
async function refuseCalledBefore(db: Db, callId: bigint, call: NewCall): Promise<void> {
  const found = await calledBefore(db, callId, call.operation, call.entries);
  if (found !== null) await refuse(db, call, calledBeforeWords(found));
}

/** Nor what was sent, by a batch or by hand, before the database was put back. */
async function refuseLost(db: Db, call: NewCall): Promise<void> {
  const lost = await lostPayout(db, call.operation, call.entries);
  if (lost === null) return;
  await refuse(
    db,
    call,
    `this payout was sent at ${lost.sentAt.toISOString()} by host ${lost.host}, before the ` +
      `database was put back; ${PAID_ONCE}`,
  );
}

const PAID_ONCE = 'a request is paid once. Was it surely not made, pay it under another request_id';

async function refuse(db: Db, { permitId }: NewCall, reason: string): Promise<never> {
  await endCall(db, permitId, { outcome: 'not_sent', reason, httpStatus: null });
  throw nothingSent(reason);
}

/** The line by which a database that has lost the call finds what it moved. */
function permitOf(call: NewCall, callId: bigint): PermitLine {
  const { permitId, accountId, operation, bodySha256, entries } = call;
  return {
    ...{ attemptId: permitId, batchId: '', accountId, operation, bodySha256 },
    entries: entries.map((entry) => {
      const { request_id: requestId } = entry;
      const { order_no: order = requestId, transaction_id: transaction = requestId } = entry;
      return {
        id: callId.toString(),
        ...(order === undefined ? {} : { order }),
        ...(transaction === undefined ? {} : { transaction }),
        refund: null,
        amount: entry.refund_amount ?? entry.payment_amount ?? entry.amount ?? '',
        currency: entry.payment_currency ?? entry.currency ?? '',
      };
    }),
  };
}

function underWayWords({ instructionId: id, operation, state, orderNo }: UnderWay): string {
  const which = `${operation} ${orderNo} of ours (instruction ${id})`;
  switch (state) {
    case 'sending':
      return `the ${which} is being sent; look again when it has its answer`;
    case 'unknown':
      return (
        `nobody knows what became of the ${which}. Look in the portal, then: ` +
        `tieout instructions resolve ${id} happened|not-happened --reason TEXT --reference REF`
      );
    default:
      return `the ${which} is ${state}: the request is paid`;
  }
}

function calledBeforeWords({ callId, operation, by, at, outcome }: EarlierCall): string {
  const became = outcome === null || outcome === 'unknown' ? 'nobody knows with what end' : outcome;
  const call = `call ${callId} of ${by} at ${at.toISOString()}: ${became}`;
  const again =
    operation === 'payout'
      ? PAID_ONCE
      : 'look in the portal. Was it surely not made, make it there';
  return `just this ${operation} was called by hand before (${call}); ${again}`;
}

function namedEntries(operation: CallName, fields: Fields): CalledEntry[] {
  const shape = Object.entries(BATCH_SHAPES).find(([name]) => name === operation)?.[1];
  const list = shape === undefined ? [fields] : fields[shape.array];
  return (Array.isArray(list) ? (list as Fields[]) : []).map((entry) =>
    Object.fromEntries(
      KEPT.flatMap((name) => {
        const value = entry[name];
        if (typeof value !== 'string') return [];
        const kept = cutText(value, TEXT_CHARS_MAX);
        // The ledger spells requests for payouts in small letters.
        return [[name, name === 'request_id' ? kept.toLowerCase() : kept]];
      }),
    ),
  );
}
