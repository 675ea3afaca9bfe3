// When a reservation lapses, and from when on somebody has to know: hours, nights, and nothing guessed.

import { describe, expect, it } from 'vitest';
import type { TakingFacts } from '../../src/core/orders/authorisation.js';
import {
  hoursLeft,
  obstacleOf,
  standingOf,
  wantedWords,
  warnUntil,
} from '../../src/core/orders/authorisation.js';

const at = (text: string): Date => new Date(`2026-${text}:00Z`);
const NOW = at('11-20T04:00');
const SINCE = at('11-14T00:00');

describe('a lapse is told', () => {
  it.each([
    ['a day before the night after has come to its end', 24, at('11-21T04:00'), '11-22T10:00'],
    ['in the night before', 0, at('11-21T04:00'), '11-21T10:00'],
    ['before a weekend, by nights of working days', 24, at('11-23T04:00'), '11-24T10:00'],
    ['an hour later where clocks go back', 0, at('11-21T05:00'), '11-21T11:00'],
    ['as if by a night a day, where none is known', 12, null, '11-21T22:00'],
  ])('%s', (_, warnHours, nextNight, until) => {
    expect(warnUntil({ validHours: 168, warnHours }, NOW, nextNight)).toEqual(at(until));
  });
});

describe('how a reservation stands', () => {
  const UNTIL = at('11-22T04:00');
  it.each([
    ['lapsed', at('11-20T04:00'), 0],
    ['lapsed', at('11-20T03:30'), 0],
    ['at_risk', at('11-20T04:01'), 0],
    ['at_risk', at('11-22T04:00'), 48],
    ['in_time', at('11-22T04:01'), 48],
  ] as const)('%s when it lapses at %s: %i hours', (standing, lapsesAt, hours) => {
    expect(standingOf({ since: SINCE, lapsesAt }, NOW, UNTIL)).toBe(standing);
    expect(hoursLeft(lapsesAt, NOW)).toBe(hours);
  });

  it('lapsed no more hours ago than have passed', () => {
    expect(hoursLeft(at('11-20T03:59'), NOW)).toBe(0);
    expect(hoursLeft(at('11-19T04:55'), NOW)).toBe(-23);
  });

  it('is not guessed where nobody said how long it holds, or since when it stands', () => {
    expect(standingOf({ since: SINCE, lapsesAt: null }, NOW, null)).toBeNull();
    expect(standingOf({ since: null, lapsesAt: null }, NOW, UNTIL)).toBe('undated');
    expect(hoursLeft(null, NOW)).toBeNull();
  });
});

describe('why it is not taken', () => {
  const PLAIN: TakingFacts = {
    expected: 'captured',
    operation: null,
    state: null,
    holdReason: null,
    isSettledSince: false,
    breaks: [],
    waived: [],
    isGap: false,
  };
  it.each<[string, Partial<TakingFacts>]>([
    ['no capture is planned', {}],
    ['the ledger does not ask for it yet', { expected: 'authorised' }],
    ['the ledger does not have it', { expected: null }],
    [
      'capture waiting for approval: the operation needs approval',
      { operation: 'capture', state: 'held', holdReason: 'approval' },
    ],
    ['capture unknown', { operation: 'capture', state: 'unknown' }],
    ['no capture is planned', { operation: 'capture', state: 'withdrawn' }],
    ['no capture is planned', { operation: 'capture', state: 'confirmed' }],
    ['capture confirmed since', { operation: 'capture', state: 'confirmed', isSettledSince: true }],
    [
      'not shown by the newest snapshot; capture rejected; break: instruction rejected',
      { operation: 'capture', state: 'rejected', breaks: ['instruction_rejected'], isGap: true },
    ],
    ['waived break: amount mismatch', { waived: ['amount_mismatch'] }],
  ])('%s', (words, facts) => {
    expect(obstacleOf({ ...PLAIN, ...facts })).toBe(words);
  });

  it('beside what the ledger wants', () => {
    expect(['captured', 'authorised', null].map(wantedWords)).toEqual([
      'capture',
      'nothing yet',
      'not in the ledger',
    ]);
  });
});
