// The words in which orders are compared: what the ledger can expect, what the gateway can show.
// Status codes of the wire become these states through the profile and nowhere else.

/** What the merchant wants to be true of an order (ledger.orders.expected). */
export const EXPECTED_STATES = ['authorised', 'captured', 'cancelled', 'declined'] as const;
export type ExpectedState = (typeof EXPECTED_STATES)[number];

/**
 * How far an order has come in the merchant's eyes. A declined payment may be tried again and be
 * taken; goods that were taken may come back. The other way round it is yesterday's word.
 */
export const EXPECTED_STEPS: readonly ExpectedState[] = [
  'authorised',
  'declined',
  'captured',
  'cancelled',
];

/** What the gateway can show of a transaction once its code has a meaning in the profile. */
export const GATEWAY_STATES = [
  'pending',
  'in_review',
  'authorised',
  'captured',
  'cancelled',
  'declined',
  'partially_refunded',
  'refunded',
] as const;
export type GatewayState = (typeof GATEWAY_STATES)[number];

/** What is done to orders at the gateway, each a queue and a batch shape of its own. */
export const OPERATIONS = ['capture', 'cancel', 'refund', 'review'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Everything that tieout may send by itself; a payout belongs to no order. */
export const INSTRUCTION_OPERATIONS = [...OPERATIONS, 'payout'] as const;
export type InstructionOperation = (typeof INSTRUCTION_OPERATIONS)[number];
