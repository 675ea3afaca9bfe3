// Instructions as people look at them: a list by filters, and one of them with all that is known.
// Read only. Neighbours: decisions.ts writes what people decide.

import { gunzipSync } from 'node:zlib';
import type { InstructionState } from '../core/instructions/instruction.js';
import { INSTRUCTION_STATES, OPEN_STATES } from '../core/instructions/instruction.js';
import type { PayoutAnswer } from '../core/instructions/payoutAnswer.js';
import type { Payee } from '../core/instructions/payouts/payoutAsked.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { Seen } from './decisionsStore.js';

interface InstructionFilter {
  states?: readonly InstructionState[];
  /** null or absent: every account */
  accountIds?: readonly string[] | null;
  operation?: string | null;
  orderNo?: string | null;
  /** else the oldest come first */
  isNewestFirst?: boolean;
  /** else by age */
  sort?: InstructionSort;
  limit: number;
  offset?: number;
}

/** What a list can be sorted by. */
export const INSTRUCTION_SORTS = ['age', 'what', 'state', 'amount', 'order', 'account'] as const;
export type InstructionSort = (typeof INSTRUCTION_SORTS)[number];

export interface ListedInstruction {
  id: string;
  accountId: string;
  orderNo: string;
  operation: string;
  state: InstructionState;
  transactionId: string;
  currency: string;
  /** what moves: of a refund the part that is refunded */
  amount: string;
  /** false: a payout in a unit that nobody has set */
  isInTotals: boolean;
  refundId: string | null;
  reviewDecision: string | null;
  holdReason: string | null;
  reason: string | null;
  askedBy: string[];
  businessDate: string;
  createdAt: string;
  /** since when it is as it is */
  since: string;
  isReplanned: boolean;
}

/** In the order in which they were made, or as `sort` says. */
export async function listInstructions(
  db: Db,
  filter: InstructionFilter,
): Promise<ListedInstruction[]> {
  const { rows } = await db.query<{ row: ListedInstruction }>(
    statement('instructions/instructionList'),
    [
      filter.states ?? null,
      filter.accountIds ?? null,
      filter.operation ?? null,
      filter.orderNo ?? null,
      filter.limit,
      filter.offset ?? 0,
      partOf(filter.states),
      filter.isNewestFirst === true,
      filter.sort ?? 'age',
    ],
  );
  return rows.map(({ row }) => row);
}

type Wanted = Omit<InstructionFilter, 'limit' | 'offset' | 'isNewestFirst' | 'sort'>;

/** How many match, counted no further than one past `most`. */
async function countInstructions(db: Db, filter: Wanted, most: number): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(statement('instructions/instructionCount'), [
    filter.states ?? null,
    filter.accountIds ?? null,
    filter.operation ?? null,
    filter.orderNo ?? null,
    most + 1,
    partOf(filter.states),
  ]);
  return Number(rows[0]?.count ?? 0);
}

/** What is the most urgent comes first; of what is settled the newest. */
const URGENCY: readonly (readonly InstructionState[])[] = [
  ['unknown'],
  ['held'],
  ['planned', 'queued', 'sending', 'accepted'],
  INSTRUCTION_STATES.filter((state) => !OPEN_STATES.includes(state)),
];
/** A list beyond this is not counted to its end. */
export const COUNTED_MAX = 10_000;

/** A page of the list, the most urgent first, and how many match, up to one past COUNTED_MAX. */
export async function mostUrgentFirst(
  db: Db,
  filter: Wanted,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ListedInstruction[]; found: number }> {
  const rows: ListedInstruction[] = [];
  let found = 0;
  for (const group of URGENCY) {
    const states = group.filter((state) => filter.states?.includes(state) ?? true);
    if (states.length === 0) continue;
    const of = { ...filter, states };
    const before = Math.max(0, offset - found);
    const isNewestFirst = states.every((state) => !OPEN_STATES.includes(state));
    const left = limit - rows.length;
    if (left > 0) {
      rows.push(
        ...(await listInstructions(db, { ...of, isNewestFirst, limit: left, offset: before })),
      );
    }
    found += await countInstructions(
      db,
      of,
      Math.max(COUNTED_MAX, offset) - Math.min(found, COUNTED_MAX),
    );
  }
  return { rows, found };
}

const VOID_STATES: readonly InstructionState[] = ['rejected', 'withdrawn'];

/** The few that these states are among, where an index has them apart. */
function partOf(states: readonly InstructionState[] = []): 'open' | 'void' | null {
  if (states.length === 0) return null;
  if (states.every((state) => OPEN_STATES.includes(state))) return 'open';
  return states.every((state) => VOID_STATES.includes(state)) ? 'void' : null;
}

/** Looks shown in one sheet, newest ones. */
const SNAPSHOTS_MAX = 20;
/** Permits that were lost, the newest; there is more than one only where it was sent again. */
const LOST_MAX = 20;

export interface InstructionSheet {
  id: string;
  accountId: string;
  orderNo: string;
  operation: string;
  state: InstructionState;
  transactionId: string;
  currency: string;
  amount: string;
  refundId: string | null;
  refundAmount: string | null;
  refundReason: string | null;
  reviewDecision: string | null;
  /** false: a payout in a unit that nobody has set */
  isInTotals: boolean;
  holdReason: string | null;
  /** why it may have been made already: it waits for that once it is approved for its reason */
  thenHeldFor: string | null;
  reason: string | null;
  askedBy: string[];
  createdAt: string;
  settledAt: string | null;
  isRefused: boolean;
  isReplanned: boolean;
  isDisputed: boolean;
  outcomeCode: string | null;
  outcomeMessage: string | null;
  gatewayReference: string | null;
  /** of a refund, beside its reference */
  refundReference: string | null;
  /** what the gateway said of a payout */
  payout: PayoutAnswer | null;
  /** when a notification named a payout that is not settled yet; null: none did */
  hintedAt: string | null;
  businessDate: string;
  /** of a payout that waits; whole only for who may approve it */
  payee: Payee | null;
  batch: { id: string; state: string; reason: string | null } | null;
  seen: Seen;
  seenSha256: string;
  approval: { by: string; at: string; expiresAt: string; lapse: string | null } | null;
  decisions: SheetDecision[];
  events: { at: string; from: string | null; to: string; by: string; reason: string | null }[];
  attempts: SheetAttempt[];
  looks: SheetSnapshot[];
  /** sent, or perhaps, as a journal says, by a database that was put back and has forgotten it */
  lostPermits: LostPermit[];
  /** what the gateway called our refunds of this transaction */
  references: string[];
}

export interface LostPermit {
  /** null: another one, which the reader may not see; no ids of it are named */
  accountId: string | null;
  operation: string;
  /** as the request had it */
  amount: string;
  /** of a payout that a person typed in the unit of the gateway; null: the amount is the money */
  money: string | null;
  currency: string;
  refundId: string | null;
  transactionId: string | null;
  sentAt: string;
  host: string;
}

/** What a journal names of an order that the database has forgotten, oldest first. */
export async function lostPermitsOfOrder(
  db: Db,
  accountId: string,
  orderNo: string,
): Promise<LostPermit[]> {
  const { rows } = await db.query<{ lost: LostPermit }>(
    `select jsonb_build_object('accountId', account_id, 'operation', operation, 'amount', amount,
       'money', (select min(tieout.typed_money(l.permit, i)) from tieout.instructions i
         where i.operation = 'payout' and i.transaction_id = lower(l.order_no)),
       'currency', currency, 'refundId', refund_id, 'transactionId', transaction_id,
       'sentAt', sent_at, 'host', host) as lost
     from (select p as permit, p.* from tieout.lost_permits p
       join tieout.lost_moves using (attempt_id, entry)) l
     where account_id = $1 and order_no = $2 order by sent_at`,
    [accountId, orderNo],
  );
  return rows.map(({ lost }) => lost);
}

export interface SheetDecision {
  at: string;
  decision: string;
  by: string;
  isClaim: boolean;
  reason: string | null;
  reference: string | null;
  finding: string | null;
  expiresAt: string | null;
  seen: Seen;
  seenSha256: string;
}

export interface SheetAttempt {
  id: string;
  claimedAt: string;
  finishedAt: string | null;
  sendBy: string;
  outcome: string | null;
  reason: string | null;
  host: string;
  pid: number;
  /** how many instructions travelled in it */
  entries: number;
  bodySha256: string;
  /** what was sent, masked; null: it was not kept */
  request: string | null;
  answer: { receivedAt: string; status: number; bytes: number; body: string } | null;
}

export interface SheetSnapshot {
  at: string;
  /** before it was first sent; null: it never was */
  isBefore: boolean | null;
  entries: {
    transaction: string | null;
    state: string | null;
    code: string | null;
    amount: string | null;
    currency: string | null;
  }[];
}

/** Bodies of answers as text, as they came: mask them before anybody sees them. */
export async function instructionSheet(
  db: Db,
  instructionId: bigint,
  accounts: readonly string[] | null,
): Promise<InstructionSheet | null> {
  const { rows } = await db.query<{ sheet: InstructionSheet }>(
    statement('instructions/instructionSheet'),
    [instructionId, SNAPSHOTS_MAX, LOST_MAX, accounts],
  );
  const sheet = rows[0]?.sheet;
  if (!sheet) return null;
  for (const attempt of sheet.attempts) {
    const { answer, request } = attempt;
    if (request !== null) {
      attempt.request = gunzipSync(Buffer.from(request, 'base64')).toString('utf8');
    }
    if (answer) answer.body = Buffer.from(answer.body, 'base64').toString('utf8');
  }
  return sheet;
}
