// Orders of which a person moved other money by hand than the ledger asks for, which no verdict
// tells, in words for a run's notices. Pure.

import { moreOrders, type Notice } from '../runs/notices.js';
import { moneyIn } from '../text/amounts.js';

export interface CapturedByHandFacts {
  accountId: string;
  orderNo: string;
  /** of what the gateway took by calls of a person */
  currency: string;
  byHand: string;
  /** false: an answer took some of the orders of its call, and may have refused this one */
  isSure: boolean;
  /** what the ledger asks for by now */
  askedCurrency: string;
  asked: string;
  /** of the account that are not told, said with the last that is */
  more: number;
}

/** The gateway may go on showing the authorised amount: nothing else would tell of it. */
export function capturedByHandNotice(captured: CapturedByHandFacts): Notice {
  const { accountId, orderNo, currency, byHand, isSure, askedCurrency, asked, more } = captured;
  const text =
    `the ledger asks for a capture of ${moneyIn(asked, askedCurrency)} of order ${orderNo}; ` +
    `${moneyIn(byHand, currency)} was captured by hand (tieout gateway capture)` +
    `${isSure ? '' : ', or another amount: an answer took some orders of a call'}: capture by ` +
    'hand what is missing before it lapses, or correct the ledger (capture_amount), and reject a ' +
    `refund of more than was captured${moreOrders(more)}`;
  return {
    accountId,
    kind: 'captured_by_hand',
    about: `another amount of order ${orderNo} was captured by hand than the ledger asks for`,
    text,
    names: [orderNo],
  };
}

export interface RefundedByHandFacts {
  accountId: string;
  orderNo: string;
  currency: string;
  /** given back by calls of a person, or perhaps */
  byHand: string;
  /** given back by instructions, or perhaps */
  ours: string;
  /** what the ledger asks for, of the order */
  asked: string;
  /** of the account that are not told, said with the last that is */
  more: number;
}

/** One part of a refund looks like the next at the gateway: nothing else would tell of it. */
export function refundedByHandNotice(refund: RefundedByHandFacts): Notice {
  const { accountId, orderNo, currency, byHand, ours, asked, more } = refund;
  const text =
    `the ledger asks for ${moneyIn(asked, currency)} back of order ${orderNo}; ` +
    `${moneyIn(byHand, currency)} went back by hand (tieout gateway refund), or may have, and ` +
    `${moneyIn(ours, currency)} by tieout: correct the ledger, or ask the customer for the rest` +
    moreOrders(more);
  return {
    accountId,
    kind: 'refunded_by_hand',
    about: `more went back of order ${orderNo} than the ledger asks for`,
    text,
    names: [orderNo],
  };
}
