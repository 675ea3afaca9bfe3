// The verdict table of docs/CONTRACT.md section 6 as cases: what the ledger says, what the gateway
// shows, what was requested and done, and the verdict that follows. The cases are worked out from
// the contract by hand and know nothing of the code; they run through core/orders/decideVerdict.ts and through
// compare.sql alike. Each set of cases shares its rules.

import type { Rules } from '../../src/core/orders/facts.js';
import { OPERATIONS } from '../../src/core/orders/order.js';
import { amountCases, transactionCases } from './matchCases.js';
import type { OrderText } from './orders.js';
import { plainRules } from './orders.js';
import { gatewayOnlyCases, recordCases, snapshotCases } from './recordCases.js';
import { forgottenRefundCases, refundCases, refundCasesOfPartialCaptures } from './refundCases.js';
import {
  instructionCases,
  observedCases,
  offCases,
  partialCaptureCases,
  percentCases,
  toleranceCases,
} from './ruleCases.js';

export interface Case extends OrderText {
  name: string;
  want: string;
}

export interface CaseSet {
  name: string;
  rules: Rules;
  cases: readonly Case[];
}

export function caseSets(): CaseSet[] {
  return [
    {
      name: 'plain rules',
      rules: plainRules(),
      cases: [
        ...printedTable(),
        ...reviewCases,
        ...ageCases,
        ...amountCases,
        ...transactionCases,
        ...recordCases,
        ...snapshotCases,
        ...gatewayOnlyCases,
        ...instructionCases,
        ...refundCases,
        ...forgottenRefundCases,
      ],
    },
    {
      name: 'tolerance 0.05 below and 0.02 above',
      rules: plainRules({ tolerance: { below: 5n, above: 2n, partsPerMillion: 0n } }),
      cases: toleranceCases,
    },
    {
      name: 'tolerance of half a percent',
      rules: plainRules({ tolerance: { below: 0n, above: 0n, partsPerMillion: 5000n } }),
      cases: percentCases,
    },
    {
      name: 'partial captures',
      rules: plainRules({ partialCapture: true }),
      cases: [...partialCaptureCases, ...refundCasesOfPartialCaptures],
    },
    { name: 'all off', rules: plainRules({ off: new Set(OPERATIONS) }), cases: offCases },
    { name: 'only observed', rules: plainRules({ liveFrom: null }), cases: observedCases },
  ];
}

const CAPTURE = 'need capture T1 10.00 EUR';
const CANCEL = 'need cancel T1 10.00 EUR';

/** Section 6 as printed, every cell; refund cells without any request. */
const PRINTED = `
             authorised     captured       partially_refunded refunded        cancelled      declined       missing
authorised   matched        state_mismatch state_mismatch     state_mismatch  state_mismatch state_mismatch missing_at_gateway
captured     CAPTURE        matched        refund_mismatch    refund_mismatch state_mismatch state_mismatch missing_at_gateway
cancelled    CANCEL         state_mismatch refund_mismatch    matched         matched        matched        matched
declined     state_mismatch state_mismatch state_mismatch     state_mismatch  matched        matched        matched
`;

function printedTable(): Case[] {
  const [head, ...rows] = PRINTED.trim().split('\n');
  const observedStates = (head ?? '').trim().split(/\s+/);
  return rows.flatMap((row) => {
    const [expected = '', ...cells] = row.trim().split(/\s+/);
    return cells.map((cell, column): Case => {
      const observed = observedStates[column] ?? '';
      return {
        name: `${expected} beside ${observed}`,
        ledger: `${expected} 10.00 EUR`,
        gateway: observed === 'missing' ? [] : [`T1 ${observed} 10.00 EUR`],
        want: cell === 'CAPTURE' ? CAPTURE : cell === 'CANCEL' ? CANCEL : cell,
      };
    });
  });
}

const reviewCases: Case[] = ['authorised', 'captured', 'cancelled', 'declined'].flatMap(
  (expected): Case[] => [
    ...['accept', 'reject'].map((decision) => ({
      name: `${expected}, in review, decided ${decision}`,
      ledger: `${expected} 10.00 EUR decision=${decision}`,
      gateway: ['T1 in_review 10.00'],
      want: `need review T1 10.00 EUR ${decision}`,
    })),
    ...['pending', 'in_review'].flatMap((observed) => [
      {
        name: `${expected}, ${observed}, undecided, at the end of the grace period`,
        ledger: `${expected} 10.00 EUR age=24h`,
        gateway: [`T1 ${observed} 10.00`],
        want: 'awaited',
      },
      {
        name: `${expected}, ${observed}, undecided, past the grace period`,
        ledger: `${expected} 10.00 EUR age=24h+1s`,
        gateway: [`T1 ${observed} 10.00`],
        want: 'state_mismatch',
      },
    ]),
    {
      name: `${expected}, pending, although somebody decided`,
      ledger: `${expected} 10.00 EUR decision=accept`,
      gateway: ['T1 pending 10.00'],
      want: 'state_mismatch',
    },
  ],
);

const ageCases: Case[] = [
  {
    name: 'missing inside the grace period',
    ledger: 'captured 10.00 EUR age=24h',
    want: 'awaited',
  },
  {
    name: 'missing past the grace period',
    ledger: 'captured 10.00 EUR age=24h+1s',
    want: 'missing_at_gateway',
  },
  {
    name: 'cancelled and missing, however young',
    ledger: 'cancelled 10.00 EUR age=1h',
    want: 'matched',
  },
  {
    name: 'placed after the look',
    ledger: 'authorised 10.00 EUR age=-2h',
    want: 'awaited',
  },
  {
    name: 'authorised just as long as it may be',
    ledger: 'authorised 10.00 EUR age=20d',
    gateway: ['T1 authorised 10.00 age=6d'],
    want: 'matched',
  },
  {
    name: 'authorised for too long',
    ledger: 'authorised 10.00 EUR age=1h',
    gateway: ['T1 authorised 10.00 age=6d+1s'],
    want: 'stale_authorisation',
  },
  {
    name: 'to be captured and authorised for too long: captured all the same',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00 age=7d'],
    want: `${CAPTURE}; stale_authorisation`,
  },
  {
    name: 'to be cancelled: no authorisation is too old for that',
    ledger: 'cancelled 10.00 EUR',
    gateway: ['T1 authorised 10.00 age=9d'],
    want: CANCEL,
  },
  {
    name: 'without a readable time of the transaction the age is that of the order',
    ledger: 'authorised 10.00 EUR age=7d',
    gateway: ['T1 authorised 10.00 age=-'],
    want: 'stale_authorisation',
  },
];
