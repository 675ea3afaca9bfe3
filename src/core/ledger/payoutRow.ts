// What a line of payout requests may hold: the id in its UUID shape, the payload as the JSON text
// of one object. Pure; no value of a payload is ever shown, since it names people and accounts.
// Neighbour: ledgerRow.ts, for orders and refunds.

import { isHeldText } from '../text/heldText.js';
import type { Column, RawLine, RowCheck } from './ledgerRow.js';
import { AHEAD, identifierProblem, isAhead, normalInstant } from './ledgerRow.js';

export const PAYOUT_COLUMNS: readonly Column[] = [
  { name: 'request_id', nullable: false },
  { name: 'account_id', nullable: false },
  { name: 'payload', nullable: false, isJson: true },
  { name: 'requested_at', nullable: false },
];

export interface LedgerPayout {
  readonly requestId: string;
  readonly accountId: string;
  /** JSON text of an object */
  readonly payload: string;
  readonly requestedAt: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const EXPONENT_MAX = 100;
const DEPTH_MAX = 100;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|\.\d{100,}|[eE][+-]?\d+/g;

/** What is JSON, and more than the database holds: it would refuse a whole part of the file. */
function boundProblem(json: string): string | null {
  let depth = 0;
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token[0] === '.' || Math.abs(Number(token.slice(1))) > EXPONENT_MAX) {
      return `has a number beyond 1e${EXPONENT_MAX}, or as small`;
    }
    if (depth > DEPTH_MAX) return `is nested deeper than ${DEPTH_MAX}`;
  }
  return null;
}

export function checkPayoutLine(line: RawLine, now: Date): RowCheck<LedgerPayout> {
  const refused = (column: string, reason: string, isShown = true): RowCheck<LedgerPayout> => ({
    kind: 'refused',
    problem: { column, value: isShown ? (line[column] ?? null) : '(not shown)', reason },
  });
  const missing = PAYOUT_COLUMNS.find(({ name }) => !line[name]);
  if (missing) return refused(missing.name, 'must not be empty');
  const { request_id: requestId, account_id: accountId, payload, requested_at: at } = line;
  if (!UUID.test(requestId ?? '')) return refused('request_id', 'must be a UUID');
  const problem = identifierProblem(accountId ?? '');
  if (problem !== null) return refused('account_id', problem);
  const unheld = boundProblem(payload ?? '') ?? payloadProblem(payload ?? '');
  if (unheld !== null) return refused('payload', unheld, false);
  const requestedAt = normalInstant(at ?? '');
  if (requestedAt === null) {
    return refused('requested_at', 'must be ISO 8601 with zone, such as "2026-11-19T08:30:00Z"');
  }
  if (isAhead(requestedAt, now)) return refused('requested_at', AHEAD);
  return {
    kind: 'ok',
    row: {
      requestId: (requestId ?? '').toLowerCase(),
      accountId: accountId ?? '',
      payload: payload ?? '',
      requestedAt,
    },
  };
}

/** Null: it is one, and what its escapes stand for can be kept in the database. */
function payloadProblem(text: string): string | null {
  let isHeld = true;
  const look = (name: string, value: unknown): unknown => {
    isHeld &&= isHeldText(name) && (typeof value !== 'string' || isHeldText(value));
    return value;
  };
  try {
    const value: unknown = JSON.parse(text, look);
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isRecord) return 'must be the JSON of one object';
  } catch {
    return 'must be the JSON of one object';
  }
  return isHeld ? null : 'has a NUL or half a character: the database holds neither';
}
