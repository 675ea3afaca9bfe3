// Entries that lack the printed shape, orders nobody looked at, entries without a ledger row. Part
// of the cases of docs/CONTRACT.md section 6; see cases.ts.

import type { Case } from './cases.js';

export const recordCases: Case[] = [
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

export const snapshotCases: Case[] = [
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

export const gatewayOnlyCases: Case[] = [
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
  {
    name: 'without a ledger row, and its number contains the separator',
    ledger: null,
    page: 'separator',
    want: 'not compared: separator',
  },
  { name: 'asked for without a ledger row, and gone', ledger: null, want: 'matched' },
  {
    name: 'asked for without a ledger row on a page that failed',
    ledger: null,
    page: 'failed',
    want: 'not compared: no_look',
  },
];
