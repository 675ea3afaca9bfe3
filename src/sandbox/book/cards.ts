// The cards that the sandbox takes: the test numbers that every payment developer knows, none of
// them anybody's card. Any other number is refused before it is kept anywhere, and of these only
// the first six and last four digits go on from here. Tokens stand for a test number by itself,
// so that none has to be stored.

import { createHash } from 'node:crypto';
import type { GatewayState } from '../../core/orders/order.js';

export interface TestCard {
  readonly number: string;
  /** What a payment with it comes to; the document shows no such cards, this is the sandbox's. */
  readonly leadsTo: Extract<GatewayState, 'authorised' | 'declined' | 'in_review' | 'pending'>;
}

export const TEST_CARDS: readonly TestCard[] = [
  { number: '4111111111111111', leadsTo: 'authorised' },
  { number: '4242424242424242', leadsTo: 'authorised' },
  { number: '4012888888881881', leadsTo: 'authorised' },
  { number: '5555555555554444', leadsTo: 'authorised' },
  { number: '5105105105105100', leadsTo: 'authorised' },
  { number: '2223003122003222', leadsTo: 'authorised' },
  { number: '378282246310005', leadsTo: 'authorised' },
  { number: '371449635398431', leadsTo: 'authorised' },
  { number: '6011111111111117', leadsTo: 'authorised' },
  { number: '3530111333300000', leadsTo: 'authorised' },
  { number: '30569309025904', leadsTo: 'authorised' },
  { number: '4000000000000002', leadsTo: 'declined' },
  { number: '4000000000009235', leadsTo: 'in_review' },
  { number: '4000000000000077', leadsTo: 'pending' },
];

const SHOWN_FIRST = 6;
const SHOWN_LAST = 4;
const TOKEN_PROOF_DIGITS = 16;

/** The test card of a number, however a person groups its digits; null: not one of them. */
export function testCard(number: string): TestCard | null {
  const digits = number.replace(/[ -]/g, '');
  return TEST_CARDS.find((card) => card.number === digits) ?? null;
}

export function maskedCard({ number }: TestCard): string {
  const hidden = '*'.repeat(number.length - SHOWN_FIRST - SHOWN_LAST);
  return `${number.slice(0, SHOWN_FIRST)}${hidden}${number.slice(-SHOWN_LAST)}`;
}

/** A token of an account for a card: the same card has the same one. */
export function tokenOf(signingKey: string, card: TestCard): string {
  const place = TEST_CARDS.indexOf(card);
  const proof = createHash('sha256').update(`sandbox token ${place} ${signingKey}`).digest('hex');
  return `TK${String(place).padStart(2, '0')}${proof.slice(0, TOKEN_PROOF_DIGITS)}`;
}

/** The card that a token of this account stands for; null: no such token. */
export function tokenCard(signingKey: string, token: string): TestCard | null {
  return TEST_CARDS.find((card) => tokenOf(signingKey, card) === token) ?? null;
}
