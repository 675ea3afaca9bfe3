// What our own instructions and the settings of a merchant change. Part of the cases of
// docs/CONTRACT.md section 6; see cases.ts.

import type { Case } from './cases.js';

const CAPTURE = 'need capture T1 10.00 EUR';

export const instructionCases: Case[] = [
  ...['planned', 'held', 'queued', 'sending', 'accepted', 'withdrawn'].map((state) => ({
    name: `the capture is ${state}: still needed`,
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: [`capture T1 ${state}`],
    want: CAPTURE,
  })),
  {
    name: 'the capture was refused',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 rejected'],
    want: 'instruction_rejected',
  },
  {
    name: 'the capture was refused, and the amount differs too',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 9.00'],
    did: ['capture T1 rejected'],
    want: 'amount_mismatch; instruction_rejected',
  },
  {
    name: 'the capture was refused, and the order is captured now',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    did: ['capture T1 rejected'],
    want: 'matched',
  },
  {
    name: 'the capture of another transaction was refused',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00', 'T2 declined 10.00'],
    did: ['capture T2 rejected'],
    want: CAPTURE,
  },
  {
    name: 'a cancel was refused, a capture is needed',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['cancel T1 rejected'],
    want: CAPTURE,
  },
  {
    name: 'the capture is unknown and its old state shows',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 unknown'],
    want: 'outcome_unknown',
  },
  {
    name: 'a cancel is unknown, and the order is captured',
    ledger: 'cancelled 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    did: ['cancel T1 unknown'],
    want: 'outcome_unknown',
  },
  {
    name: 'a partial refund is unknown, and the gateway shows one',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 partially_refunded 10.00'],
    refunds: ['R1 4.00'],
    did: ['refund T1 R1 4.00 unknown'],
    want: 'outcome_unknown',
  },
  {
    name: 'unknown, although all seems well',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    did: ['capture T1 unknown'],
    want: 'outcome_unknown',
  },
  {
    name: 'unknown, and gone from the gateway',
    ledger: 'captured 10.00 EUR',
    did: ['capture T1 unknown'],
    want: 'missing_at_gateway',
  },
  {
    name: 'unknown stands beside another amount',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 9.00'],
    did: ['capture T1 unknown'],
    want: 'amount_mismatch; outcome_unknown',
  },
  {
    name: 'the capture is confirmed, yet the gateway shows authorised again: never sent twice',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 confirmed'],
    want: 'state_mismatch',
  },
  {
    name: 'the capture was refused, and a person wants it planned again',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 rejected again=yes'],
    want: CAPTURE,
  },
  {
    name: 'planned again and sent: the refusal of the first is past',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 rejected again=yes', 'capture T1 accepted'],
    want: CAPTURE,
  },
  {
    name: 'planned again and refused again',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 rejected again=yes', 'capture T1 rejected'],
    want: 'instruction_rejected',
  },
  {
    name: 'planned again, and withdrawn since nobody asked any more: the refusal is past',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 rejected again=yes', 'capture T1 withdrawn'],
    want: CAPTURE,
  },
  {
    name: 'a person refused it, another amount was asked for meanwhile, and the first one again',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 withdrawn by=person', 'capture T1 withdrawn amount=9.00'],
    want: 'state_mismatch',
  },
  {
    name: 'the same, and a person wants the later one planned again',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 withdrawn by=person', 'capture T1 withdrawn amount=9.00 again=yes'],
    want: 'state_mismatch',
  },
  {
    name: 'the same, and a person wants the first one planned again',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 withdrawn by=person again=yes', 'capture T1 withdrawn amount=9.00'],
    want: CAPTURE,
  },
  ...personsNo([
    ['capture', 'captured 10.00 EUR', 'T1 authorised 10.00', 'capture T1', 'state_mismatch'],
    ['cancel', 'cancelled 10.00 EUR', 'T1 authorised 10.00', 'cancel T1', 'state_mismatch'],
    [
      'review',
      'captured 10.00 EUR decision=reject',
      'T1 in_review 10.00',
      'review T1 reject',
      'state_mismatch',
    ],
    ['refund', 'captured 10.00 EUR', 'T1 captured 10.00', 'refund T1 R1 4.00', 'refund_mismatch'],
    [
      'refund of a cancelled order',
      'cancelled 10.00 EUR',
      'T1 captured 10.00',
      'refund T1 R1 4.00',
      'state_mismatch',
    ],
  ]),
  {
    name: 'a person said no to another amount',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 withdrawn by=person amount=9.00'],
    want: CAPTURE,
  },
  {
    name: 'a person said no to the other decision',
    ledger: 'captured 10.00 EUR decision=accept',
    gateway: ['T1 in_review 10.00'],
    did: ['review T1 reject withdrawn by=person'],
    want: 'need review T1 10.00 EUR accept',
  },
  {
    name: 'a person said no to another refund request',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    refunds: ['R2 4.00'],
    did: ['refund T1 R1 4.00 withdrawn by=person'],
    want: 'need refund T1 10.00 EUR R2 4.00',
  },
  {
    name: 'a person said no, and a later one was withdrawn by itself',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00'],
    did: ['capture T1 withdrawn by=person again=yes', 'capture T1 withdrawn'],
    want: CAPTURE,
  },
  {
    name: 'a person said no, and the amount differs too',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 9.00'],
    did: ['capture T1 withdrawn by=person'],
    want: 'amount_mismatch; state_mismatch',
  },
  {
    name: 'a person said no, and it was done elsewhere',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    did: ['capture T1 withdrawn by=person'],
    want: 'matched',
  },
];

/** A person's no makes a difference of the need, until somebody wants it planned again. */
function personsNo(rows: readonly (readonly [string, string, string, string, string])[]): Case[] {
  return rows.flatMap(([name, ledger, entry, did, want]): Case[] => {
    const order = {
      ledger,
      gateway: [entry],
      refunds: did.startsWith('refund') ? ['R1 4.00'] : [],
    };
    const needs: Record<string, string> = {
      'capture T1': CAPTURE,
      'cancel T1': 'need cancel T1 10.00 EUR',
      'review T1 reject': 'need review T1 10.00 EUR reject',
      'refund T1 R1 4.00': 'need refund T1 10.00 EUR R1 4.00',
    };
    return [
      {
        name: `a person said no to the ${name}`,
        ...order,
        did: [`${did} withdrawn by=person`],
        want,
      },
      {
        name: `a person said no to the ${name}, and it is to be planned again`,
        ...order,
        did: [`${did} withdrawn by=person again=yes`],
        want: needs[did] ?? '',
      },
    ];
  });
}

export const toleranceCases: Case[] = [
  ...[
    ['five cents below', '9.95', 'tolerated'],
    ['six cents below', '9.94', 'amount_mismatch'],
    ['two cents above', '10.02', 'tolerated'],
    ['three cents above', '10.03', 'amount_mismatch'],
  ].map(([name = '', amount, want = '']) => ({
    name,
    ledger: 'captured 10.00 EUR',
    gateway: [`T1 captured ${amount}`],
    want,
  })),
  {
    name: 'a tolerated difference never frees a capture',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 9.99'],
    want: 'tolerated',
  },
  {
    name: 'a tolerated difference hides no other',
    ledger: 'authorised 10.00 EUR',
    gateway: ['T1 captured 9.99'],
    want: 'tolerated; state_mismatch',
  },
  {
    name: 'two currencies have no tolerance',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 9.99 USD'],
    want: 'currency_mismatch; amount_mismatch',
  },
];

export const percentCases: Case[] = [
  ...[
    ['half a percent below', '10.00', '9.95', 'tolerated'],
    ['half a percent above', '10.00', '10.05', 'tolerated'],
    ['a cent beyond half a percent', '10.00', '10.06', 'amount_mismatch'],
    ['less than half a percent of a small amount is no cent', '1.99', '2.00', 'amount_mismatch'],
    ['half a percent of a small amount is a cent', '2.00', '2.01', 'tolerated'],
  ].map(([name = '', expected, amount, want = '']) => ({
    name,
    ledger: `captured ${expected} EUR`,
    gateway: [`T1 captured ${amount}`],
    want,
  })),
];

export const partialCaptureCases: Case[] = [
  {
    name: 'less is to be captured than was authorised',
    ledger: 'captured 10.00 EUR take=8.00',
    gateway: ['T1 authorised 10.00'],
    want: 'need capture T1 8.00 EUR',
  },
  ...['8.00', '10.00'].map((amount) => ({
    name: `captured in part, the gateway shows ${amount}`,
    ledger: 'captured 10.00 EUR take=8.00',
    gateway: [`T1 captured ${amount}`],
    want: 'matched',
  })),
  ...[
    ['raised', '10.00 EUR take=9.00', 'amount_mismatch'],
    ['removed', '10.00 EUR', 'amount_mismatch'],
    ['lowered', '10.00 EUR take=7.00', 'amount_mismatch'],
    ['as it was', '10.00 EUR take=8.00', 'matched'],
  ].map(([what, ledger = '', want = '']) => ({
    name: `captured in part by us, and what was to be captured is ${what}`,
    ledger: `captured ${ledger}`,
    gateway: ['T1 captured 10.00'],
    did: ['capture T1 confirmed amount=8.00 part=yes'],
    want,
  })),
  {
    name: 'captured whole by us, and less was to be captured',
    ledger: 'captured 10.00 EUR take=8.00',
    gateway: ['T1 captured 10.00'],
    did: ['capture T1 confirmed'],
    want: 'amount_mismatch',
  },
  {
    name: 'captured in part by us, of another transaction',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00', 'T2 cancelled 10.00'],
    did: ['capture T2 confirmed amount=8.00 part=yes'],
    want: 'matched',
  },
  {
    name: 'captured in part by us, and no refund goes while the ledger says more',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    did: ['capture T1 confirmed amount=8.00 part=yes'],
    refunds: ['R1 10.00'],
    want: 'amount_mismatch',
  },
  {
    name: 'captured in part, the gateway shows neither amount',
    ledger: 'captured 10.00 EUR take=8.00',
    gateway: ['T1 captured 9.00'],
    want: 'amount_mismatch',
  },
  {
    name: 'the smaller amount before the capture',
    ledger: 'captured 10.00 EUR take=8.00',
    gateway: ['T1 authorised 8.00'],
    want: 'amount_mismatch',
  },
];

export const offCases: Case[] = [
  ['capture', 'captured 10.00 EUR', 'authorised', 'state_mismatch'],
  ['cancel', 'cancelled 10.00 EUR', 'authorised', 'state_mismatch'],
  ['review', 'captured 10.00 EUR decision=accept', 'in_review', 'state_mismatch'],
  ['refund', 'captured 10.00 EUR', 'captured', 'refund_mismatch'],
  ['refund of a cancelled order', 'cancelled 10.00 EUR', 'captured', 'state_mismatch'],
].map(([operation, ledger = '', observed, want = '']) => ({
  name: `${operation} is off`,
  ledger,
  gateway: [`T1 ${observed} 10.00`],
  refunds: operation?.startsWith('refund') ? ['R1 10.00'] : [],
  want,
}));

export const observedCases: Case[] = [
  {
    name: 'without liveFrom no request is history, and what is needed is still said',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    refunds: ['R1 4.00 age=90d'],
    want: 'need refund T1 10.00 EUR R1 4.00',
  },
];
