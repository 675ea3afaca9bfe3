// The verdict table of CONTRACT section 6 as cases: what the ledger says, what the gateway shows,
// what was requested and done, and the verdict that follows. The cases are worked out from the
// contract by hand and know nothing of the code; they run through core/decide.ts and through
// compare.sql alike. Each set of cases shares its rules.

import type { Rules } from '../../src/core/decide.js';
import { OPERATIONS } from '../../src/core/order.js';
import type { OrderText } from './orders.js';
import { plainRules } from './orders.js';
import { refundCases, refundCasesOfPartialCaptures } from './refundCases.js';

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
        ...lookCases,
        ...strangerCases,
        ...instructionCases,
        ...refundCases,
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
  const sights = (head ?? '').trim().split(/\s+/);
  return rows.flatMap((row) => {
    const [expected = '', ...cells] = row.trim().split(/\s+/);
    return cells.map((cell, column): Case => {
      const sight = sights[column] ?? '';
      return {
        name: `${expected} beside ${sight}`,
        ledger: `${expected} 10.00 EUR`,
        gateway: sight === 'missing' ? [] : [`T1 ${sight} 10.00 EUR`],
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
    ...['pending', 'in_review'].flatMap((sight) => [
      {
        name: `${expected}, ${sight}, undecided, at the end of the grace period`,
        ledger: `${expected} 10.00 EUR age=24h`,
        gateway: [`T1 ${sight} 10.00`],
        want: 'awaited',
      },
      {
        name: `${expected}, ${sight}, undecided, past the grace period`,
        ledger: `${expected} 10.00 EUR age=24h+1s`,
        gateway: [`T1 ${sight} 10.00`],
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
  { name: 'missing inside the grace period', ledger: 'captured 10.00 EUR age=24h', want: 'awaited' },
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

const amountCases: Case[] = [
  {
    name: 'a cent less',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 9.99'],
    want: 'amount_mismatch',
  },
  {
    name: 'a cent more blocks the capture, and the state is not named beside it',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.01'],
    want: 'amount_mismatch',
  },
  {
    name: 'another currency blocks the cancel',
    ledger: 'cancelled 10.00 EUR',
    gateway: ['T1 authorised 10.00 USD'],
    want: 'currency_mismatch',
  },
  {
    name: 'another currency and another amount',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 11.00 USD'],
    want: 'currency_mismatch; amount_mismatch',
  },
  {
    name: 'an order that differs in every way',
    ledger: 'authorised 10.00 EUR',
    gateway: ['T1 captured 9.00 USD'],
    want: 'currency_mismatch; amount_mismatch; state_mismatch',
  },
  {
    name: 'another amount of an order in review blocks the decision',
    ledger: 'captured 10.00 EUR decision=accept',
    gateway: ['T1 in_review 12.00'],
    want: 'amount_mismatch',
  },
  {
    name: 'the amount differs while the state is awaited',
    ledger: 'captured 10.00 EUR age=1h',
    gateway: ['T1 pending 9.00'],
    want: 'awaited; amount_mismatch',
  },
  {
    name: 'the largest amounts, a cent apart',
    ledger: 'captured 999999999999999999.99 EUR',
    gateway: ['T1 captured 999999999999999999.98'],
    want: 'amount_mismatch',
  },
  {
    name: 'less is to be captured than was authorised',
    ledger: 'captured 10.00 EUR take=8.00',
    gateway: ['T1 authorised 10.00'],
    want: 'need capture T1 8.00 EUR',
  },
  {
    name: 'the smaller amount is shown, but partial captures are not allowed',
    ledger: 'captured 10.00 EUR take=8.00',
    gateway: ['T1 captured 8.00'],
    want: 'amount_mismatch',
  },
];

const transactionCases: Case[] = [
  {
    name: 'the named transaction is there',
    ledger: 'captured 10.00 EUR names=T1',
    gateway: ['T1 authorised 10.00'],
    want: CAPTURE,
  },
  {
    name: 'the named transaction beside a dead attempt',
    ledger: 'captured 10.00 EUR names=T2',
    gateway: ['T1 declined 10.00', 'T2 captured 10.00'],
    want: 'matched',
  },
  {
    name: 'another transaction than the named one',
    ledger: 'captured 10.00 EUR names=T9',
    gateway: ['T1 captured 10.00'],
    want: 'transaction_mismatch',
  },
  {
    name: 'several others than the named one, dead and alive',
    ledger: 'captured 10.00 EUR names=T9',
    gateway: ['T1 declined 10.00', 'T2 captured 9.00', 'T3 captured 10.00 USD'],
    want: 'transaction_mismatch',
  },
  {
    name: 'the named transaction and nothing at the gateway',
    ledger: 'captured 10.00 EUR names=T9',
    want: 'missing_at_gateway',
  },
  {
    name: 'the named one is dead, another is alive',
    ledger: 'cancelled 10.00 EUR names=T1',
    gateway: ['T1 cancelled 10.00', 'T2 authorised 10.00'],
    want: 'duplicate_transaction',
  },
  {
    name: 'two live transactions',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00', 'T2 authorised 10.00'],
    want: 'duplicate_transaction',
  },
  {
    name: 'two live transactions, one of them refunded',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 refunded 10.00', 'T2 captured 10.00'],
    want: 'duplicate_transaction',
  },
  {
    name: 'dead attempts beside one live transaction',
    ledger: 'captured 10.00 EUR',
    gateway: ['T2 declined 10.00 age=1h', 'T3 cancelled 7.00 age=2h', 'T1 authorised 10.00'],
    want: CAPTURE,
  },
  {
    name: 'a dead attempt of another shape is no difference beside a live one',
    ledger: 'captured 10.00 EUR',
    gateway: ['T2 declined 0.00', 'T3 declined - -', 'T1 captured 10.00'],
    want: 'matched',
  },
  {
    name: 'all are dead: the latest counts, here with another amount',
    ledger: 'declined 10.00 EUR',
    gateway: ['T1 declined 10.00 age=3h', 'T2 cancelled 9.00 age=2h'],
    want: 'amount_mismatch',
  },
  {
    name: 'all are dead: the latest counts, here with the right amount',
    ledger: 'declined 10.00 EUR',
    gateway: ['T1 declined 9.00 age=3h', 'T2 cancelled 10.00 age=2h'],
    want: 'matched',
  },
  {
    name: 'all are dead at the same time: the larger id is the latest',
    ledger: 'cancelled 10.00 EUR',
    gateway: ['T2 declined 10.00', 'T1 cancelled 9.00'],
    want: 'matched',
  },
  {
    name: 'the same transaction twice, equal, counts once',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00', 'T1 authorised 10.00'],
    want: CAPTURE,
  },
  {
    name: 'the same transaction twice with two states',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00', 'T1 captured 10.00'],
    want: 'not compared: contradictory',
  },
  {
    name: 'the same transaction twice with two amounts, the live one being another',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00', 'T2 declined 10.00', 'T2 declined 9.00'],
    want: 'not compared: contradictory',
  },
];

const recordCases: Case[] = [
  {
    name: 'a code without a meaning',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 what 10.00 code=7777'],
    want: 'unknown_status',
  },
  {
    name: 'a code without a meaning beside a transaction that fits',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 authorised 10.00', 'T2 what 10.00 code=7777'],
    want: 'unknown_status',
  },
  {
    name: 'a code without a meaning stands alone, whatever else differs',
    ledger: 'captured 10.00 EUR names=T9',
    gateway: ['T1 what 9.00 USD code=7777'],
    want: 'unknown_status',
  },
  ...[
    ['an amount of another shape', 'T1 authorised 10.0'],
    ['an amount of zero', 'T1 authorised 0.00'],
    ['an amount of too many digits', 'T1 authorised 1000000000000000000.00'],
    ['no amount', 'T1 authorised -'],
    ['no currency', 'T1 authorised 10.00 -'],
    ['an empty currency', "T1 authorised 10.00 ''"],
    ['no status', 'T1 authorised 10.00 code=-'],
    ['no transaction id', '- authorised 10.00'],
    ['an empty transaction id', "'' authorised 10.00"],
    ['no amount and a code without a meaning', 'T1 what - code=7777'],
  ].map(([name = '', entry = '']) => ({
    name,
    ledger: 'captured 10.00 EUR',
    gateway: [entry],
    want: 'invalid_record',
  })),
  {
    name: 'no amount on one of two live transactions',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00', 'T2 captured -'],
    want: 'invalid_record',
  },
  {
    name: 'no amount on another than the named one',
    ledger: 'captured 10.00 EUR names=T1',
    gateway: ['T1 captured 10.00', 'T2 captured -'],
    want: 'duplicate_transaction',
  },
  {
    name: 'no status on a dead attempt',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00', 'T2 declined 10.00 code=-'],
    want: 'invalid_record',
  },
  {
    name: 'two entries without a transaction id',
    ledger: 'captured 10.00 EUR',
    gateway: ['- captured 10.00', '- captured 9.00'],
    want: 'not compared: contradictory',
  },
];

const lookCases: Case[] = [
  {
    name: 'its page failed',
    ledger: 'captured 10.00 EUR',
    page: 'failed',
    want: 'not compared: no_look',
  },
  {
    name: 'its page failed, although an entry of it came in another',
    ledger: 'captured 10.00 EUR',
    page: 'failed',
    gateway: ['T1 captured 10.00'],
    want: 'not compared: no_look',
  },
  {
    name: 'its number contains the separator',
    ledger: 'captured 10.00 EUR',
    page: 'separator',
    want: 'not compared: separator',
  },
  {
    name: 'its entry is none',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00 found=0'],
    want: 'not compared: query_result',
  },
  {
    name: 'its entry does not say whether it is one',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00 found=-'],
    want: 'not compared: query_result',
  },
  {
    name: 'one of its entries is none',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00', '- what - - code=- found=0'],
    want: 'not compared: query_result',
  },
];

const strangerCases: Case[] = [
  {
    name: 'an entry without a ledger row, past the grace period',
    ledger: null,
    page: 'unasked',
    gateway: ['T1 captured 10.00 age=24h+1s'],
    want: 'missing_in_ledger',
  },
  {
    name: 'an entry without a ledger row, inside the grace period',
    ledger: null,
    page: 'unasked',
    gateway: ['T1 captured 10.00 age=24h'],
    want: 'awaited',
  },
  {
    name: 'an entry without a ledger row, from after the date',
    ledger: null,
    page: 'unasked',
    gateway: ['T1 captured 10.00 age=2h'],
    want: 'awaited',
  },
  {
    name: 'several entries without a ledger row: the first of them counts',
    ledger: null,
    page: 'unasked',
    gateway: ['T1 captured 10.00 age=2h', 'T2 declined 10.00 age=40h'],
    want: 'missing_in_ledger',
  },
  {
    name: 'an entry without a ledger row whose code has no meaning',
    ledger: null,
    page: 'unasked',
    gateway: ['T1 what 10.00 code=7777'],
    want: 'missing_in_ledger',
  },
  {
    name: 'an entry without a ledger row and without a readable time',
    ledger: null,
    page: 'unasked',
    gateway: ['T1 captured 10.00 age=-'],
    want: 'invalid_record',
  },
  {
    name: 'asked for without a ledger row, and there',
    ledger: null,
    gateway: ['T1 captured 10.00'],
    want: 'missing_in_ledger',
  },
  { name: 'asked for without a ledger row, and gone', ledger: null, want: 'matched' },
  {
    name: 'asked for without a ledger row on a page that failed',
    ledger: null,
    page: 'failed',
    want: 'not compared: no_look',
  },
];

const instructionCases: Case[] = [
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
];

const toleranceCases: Case[] = [
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

const percentCases: Case[] = [
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

const partialCaptureCases: Case[] = [
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

const offCases: Case[] = [
  ['capture', 'captured 10.00 EUR', 'authorised', 'state_mismatch'],
  ['cancel', 'cancelled 10.00 EUR', 'authorised', 'state_mismatch'],
  ['review', 'captured 10.00 EUR decision=accept', 'in_review', 'state_mismatch'],
  ['refund', 'captured 10.00 EUR', 'captured', 'refund_mismatch'],
  ['refund of a cancelled order', 'cancelled 10.00 EUR', 'captured', 'state_mismatch'],
].map(([operation, ledger = '', sight, want = '']) => ({
  name: `${operation} is off`,
  ledger,
  gateway: [`T1 ${sight} 10.00`],
  refunds: operation?.startsWith('refund') ? ['R1 10.00'] : [],
  want,
}));

const observedCases: Case[] = [
  {
    name: 'without liveFrom no request is history, and what is needed is still said',
    ledger: 'captured 10.00 EUR',
    gateway: ['T1 captured 10.00'],
    refunds: ['R1 4.00 age=90d'],
    want: 'need refund T1 10.00 EUR R1 4.00',
  },
];
