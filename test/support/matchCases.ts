// Amounts and currencies, and which transaction is the one of an order. Part of the cases of
// docs/CONTRACT.md section 6; see cases.ts.

import type { Case } from './cases.js';

const CAPTURE = 'need capture T1 10.00 EUR';

export const amountCases: Case[] = [
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

export const transactionCases: Case[] = [
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
