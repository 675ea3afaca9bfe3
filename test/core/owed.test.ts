// What is owed, case by case: the tick is always at 04:15, the date that had ended by then the 20th.

import { describe, expect, it } from 'vitest';
import type { NewestRun, Owed, OwedFacts } from '../../src/core/runs/owed.js';
import {
  didNotStart,
  nextSentence,
  owedSentence,
  RESUME_PAUSES_MINUTES,
  stoppedSentence,
  whatIsOwed,
} from '../../src/core/runs/owed.js';

const at = (time: string): Date => new Date(`2026-11-21T${time}:00Z`);

const RUN: NewestRun = {
  date: '2026-11-20',
  state: 'incomplete',
  isLeftAlone: false,
  isAtWork: false,
  wasStopped: false,
  lacksAccounts: false,
  ends: 1,
  endedAt: at('04:20'),
};

function owed(run: Partial<NewestRun> | null, facts: Partial<OwedFacts> = {}): Owed {
  return whatIsOwed({
    now: at('05:00'),
    tick: at('04:15'),
    due: '2026-11-20',
    nextDue: '2026-11-21',
    resumeUntil: at('06:30'),
    installedAt: at('00:00'),
    run: run === null ? null : { ...RUN, ...run },
    ...facts,
  });
}

const CASES: readonly [string, Owed['kind'], Partial<NewestRun> | null, Partial<OwedFacts>?][] = [
  ['no run', 'begin', null],
  ['no run, installed after the tick', 'nothing', null, { installedAt: at('04:30') }],
  ['a run of the date before, and an older installation', 'begin', { date: '2026-11-19' }],
  ['one of the date before that broke off', 'begin', { date: '2026-11-19', state: 'failed' }],
  [
    'one of the date before that is still at work',
    'underWay',
    {
      ...{ date: '2026-11-19', state: 'running', isAtWork: true },
    },
  ],
  ['no tick within a year', 'nothing', null, { tick: null, due: null }],
  ['tied out', 'nothing', { state: 'tied_out' }],
  ['broken', 'nothing', { state: 'broken' }],
  ['tied out for some accounts', 'goOn', { state: 'tied_out', lacksAccounts: true }],
  [
    'the same past resumeUntil',
    'nothing',
    { state: 'tied_out', lacksAccounts: true },
    {
      now: at('07:00'),
    },
  ],
  ['its process is gone', 'goOn', { state: 'running' }],
  ['the same past resumeUntil, too', 'goOn', { state: 'running' }, { now: at('12:00') }],
  ['told to stop', 'goOn', { state: 'failed', wasStopped: true }, { now: at('12:00') }],
  ['incomplete', 'resume', {}],
  ['incomplete by accounts that left the configuration alone', 'nothing', { isLeftAlone: true }],
  ['failed', 'resume', { state: 'failed' }],
  ['incomplete past resumeUntil', 'givenUp', {}, { now: at('06:30') }],
  ['its next pause ends past resumeUntil', 'givenUp', { ends: 9, endedAt: at('06:20') }],
  ['incomplete, by hand before the tick', 'resume', { ends: 0, endedAt: at('01:00') }],
  ['of a later date, by hand, done', 'nothing', { date: '2026-11-21', state: 'tied_out' }],
  ['of a later date, by hand, incomplete', 'nothing', { date: '2026-11-21', ends: 3 }],
  [
    'of a later date, by hand, incomplete, past resumeUntil of the night before',
    'nothing',
    { date: '2026-11-21', ends: 3 },
    { now: at('23:30') },
  ],
  ['of a date that lies ahead', 'barred', { date: '2026-12-20', state: 'tied_out' }],
  ['the same, while it is worked on', 'underWay', { date: '2026-12-20', isAtWork: true }],
];

describe('what is owed', () => {
  it.each(CASES)('%s: %s', (_, kind, run, facts) => {
    expect(owed(run, facts).kind).toBe(kind);
  });

  it('waits longer each time, and not longer than the longest pause', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7].map((ends) => {
      const next = owed({ ends });
      return next.kind === 'resume' ? (next.at.getTime() - at('04:20').getTime()) / 60_000 : null;
    });
    expect(pauses).toEqual([...RESUME_PAUSES_MINUTES, 15, 15]);
    expect(owed({ ends: 0, endedAt: at('01:00') })).toMatchObject({ at: at('04:15') });
  });

  it('says at once that no night is going to begin before a date that lies ahead', () => {
    const barred = owed({ date: '2026-12-20', state: 'tied_out' });
    expect(barred).toMatchObject({ date: '2026-11-21', newest: '2026-12-20' });
    expect(didNotStart(barred, at('04:16'))).toBe(true);
    expect(owedSentence(barred, at('04:16'))).toMatch(
      /^Business date 2026-11-21 is not going to begin: 2026-12-20 was run already, by a clock/,
    );
    const next = { nextTick: at('04:15'), nextDue: '2026-11-21' };
    expect(nextSentence(next, barred)).toBe('The next night is the first one after 2026-12-20.');
    expect(nextSentence(next, { kind: 'nothing' })).toMatch(/^The next night begins at /);
  });

  it('promises no night of a date that was run before its time, and is done', () => {
    const next = { nextTick: at('04:15'), nextDue: '2026-11-21' };
    const said = (run: Partial<NewestRun>) =>
      nextSentence(next, owed({ date: '2026-11-21', ...run }));
    const after = 'The next night is the first one after 2026-11-21.';
    expect(said({ state: 'tied_out' })).toBe(after);
    expect(said({ isLeftAlone: true })).toBe(after);
    // Its own night goes on with these.
    const own = /^The next night begins at .*, business date 2026-11-21\.$/;
    expect(said({})).toMatch(own);
    expect(said({ state: 'tied_out', lacksAccounts: true })).toMatch(own);
    const weekly = { nextTick: at('04:15'), nextDue: '2026-11-27' };
    const between = owed({ date: '2026-11-21', state: 'tied_out' }, { nextDue: '2026-11-27' });
    expect(nextSentence(weekly, between)).toMatch(/, business date 2026-11-27\.$/);
  });

  it('is late ten minutes after the tick', () => {
    const begin = owed(null);
    expect(didNotStart(begin, at('04:25'))).toBe(false);
    expect(didNotStart(begin, at('04:26'))).toBe(true);
    expect(didNotStart(owed({ state: 'tied_out' }), at('23:00'))).toBe(false);
    expect(owedSentence(begin, at('04:16'))).toBe('Business date 2026-11-20 is to begin now.');
    expect(owedSentence(owed({}), at('04:20'))).toBe(
      'It is resumed at 2026-11-21T04:21Z, until 2026-11-21T06:30Z at the latest, where `start` or `schedule` runs.',
    );
  });

  it('says of a run that goes on, and of no other, that a stop keeps back what it sends', () => {
    const goesOn = [owed({}), owed({}, { now: at('06:30') })];
    for (const one of goesOn) expect(stoppedSentence(one)).toMatch(/until sending is resumed\.$/);
    for (const one of [owed(null), owed({ state: 'tied_out' })]) {
      expect(stoppedSentence(one)).toBe('');
    }
  });
});
