// What a person may do to a break, state by state; and whose amount needs a second person.

import { describe, expect, test } from 'vitest';
import type { BreakAction, DecidedBreak } from '../../src/core/breaks/breakDecision.js';
import {
  decideBreak,
  waivedAloneMax,
  waiverWaitsWords,
} from '../../src/core/breaks/breakDecision.js';
import { eventLabels } from '../../src/core/breaks/outcome.js';
import { wordsProblem } from '../../src/core/instructions/decider.js';

const OPEN: DecidedBreak = {
  state: 'open',
  currency: 'EUR',
  waiverStake: 10_000n,
  owner: null,
  note: null,
  waiverAskedBy: null,
};
const ANNA = { name: 'anna', isClaim: true };
const WAIVE: BreakAction = { kind: 'waive', reason: 'known' };
const LIMIT = 50_000n;

describe('a decision about a break', () => {
  test.each<[string, Partial<DecidedBreak>, BreakAction, string]>([
    ['a note', {}, { kind: 'note', text: 'asked the bank' }, 'noted'],
    ['the same note', { note: 'x' }, { kind: 'note', text: 'x' }, 'unchanged'],
    ['a note on a resolved one', { state: 'resolved' }, { kind: 'note', text: 'x' }, 'noted'],
    ['an owner', {}, { kind: 'assign', owner: 'bert' }, 'assigned'],
    ['the same owner', { owner: 'bert' }, { kind: 'assign', owner: 'bert' }, 'unchanged'],
    ['nobody', { owner: 'bert' }, { kind: 'assign', owner: null }, 'assigned'],
    [
      'an owner of a resolved one',
      { state: 'resolved' },
      { kind: 'assign', owner: 'b' },
      'refused',
    ],
    ['a small waiver', {}, WAIVE, 'waived'],
    ['a waiver at the limit', { waiverStake: LIMIT }, WAIVE, 'waived'],
    ['a waiver above it', { waiverStake: LIMIT + 1n }, WAIVE, 'waiver_asked'],
    ['a waiver of nobody knows how much', { waiverStake: null }, WAIVE, 'waiver_asked'],
    ['by the second person', { waiverStake: null, waiverAskedBy: 'bert' }, WAIVE, 'waiver_agreed'],
    ['a small one that another asked for', { waiverAskedBy: 'bert' }, WAIVE, 'waiver_agreed'],
    ['a small one that was asked for oneself', { waiverAskedBy: 'anna' }, WAIVE, 'waived'],
    ['by the same person', { waiverStake: null, waiverAskedBy: ' Anna ' }, WAIVE, 'refused'],
    ['a waiver of a waived one', { state: 'waived' }, WAIVE, 'unchanged'],
    ['a waiver of a resolved one', { state: 'resolved' }, WAIVE, 'refused'],
    ['taking a waiver back', { state: 'waived' }, { kind: 'reopen', reason: 'x' }, 'reopened'],
    ['reopening an open one', {}, { kind: 'reopen', reason: 'x' }, 'unchanged'],
    [
      'no to a waiver',
      { waiverAskedBy: 'bert' },
      { kind: 'reopen', reason: 'x' },
      'waiver_refused',
    ],
    [
      'by who asked',
      { waiverAskedBy: 'anna' },
      { kind: 'reopen', reason: 'x' },
      'waiver_taken_back',
    ],
    ['reopening a resolved one', { state: 'resolved' }, { kind: 'reopen', reason: 'x' }, 'refused'],
  ])('%s', (_name, change, action, verdict) => {
    expect(decideBreak({ ...OPEN, ...change }, action, ANNA, LIMIT).kind).toBe(verdict);
  });

  test('its trail tells who ended what was asked for', () => {
    const of = (event: string, by: string, amount = '9.00') => {
      return { event, by, expected: { amount: '10.00' }, actual: { amount } };
    };
    const labels = (...events: ReturnType<typeof of>[]) => eventLabels(events);
    const asked = of('waiver_asked', 'anna');
    const [own, second] = ['request for a waiver taken back', 'waived as the second person'];
    expect(labels(asked, of('waiver_refused', 'Anna '))[1]).toBe(own);
    expect(labels(asked, of('waiver_refused', 'bert'))[1]).toBe('waiver refused');
    expect(labels(asked, of('noted', 'bert'), of('waived', 'bert'))[2]).toBe(second);
    expect(labels(asked, of('waived', 'anna'))[1]).toBe('waived');
    // It says something else by then: nobody agreed to what was asked for.
    const [other, back] = [of('changed', 'tieout', '8.00'), of('changed', 'tieout')];
    expect(labels(asked, other, of('waived', 'bert', '8.00'))[2]).toBe('waived');
    // It is back as it was asked for, or went away and came back: the waiver waits again.
    expect(labels(asked, other, back, of('waived', 'bert'))[3]).toBe(second);
    const again = [asked, of('resolved', 'tieout'), of('reopened', 'tieout')];
    expect(labels(...again, of('waived', 'bert'))[3]).toBe(second);
    expect(labels(...again, of('waiver_refused', 'anna'))[3]).toBe(own);
    expect(labels(asked, of('waiver_refused', 'bert'), of('waived', 'carl'))[2]).toBe('waived');
  });

  test('who only agrees refuses a waiver that is asked for, and reopens none', () => {
    const reopen: BreakAction = { kind: 'reopen', reason: 'x' };
    const verdict = (one: Partial<DecidedBreak>) =>
      decideBreak({ ...OPEN, ...one }, reopen, ANNA, LIMIT, false);
    expect(verdict({ waiverAskedBy: 'bert' }).kind).toBe('waiver_refused');
    expect(verdict({ state: 'waived' })).toMatchObject({ kind: 'refused' });
  });

  test.each([
    [null, ['JPY'], 'above what one person may waive'],
    [{ EUR: LIMIT }, ['EUR'], 'above what one person may waive'],
    [{ EUR: LIMIT }, ['JPY'], 'no limit is set for JPY, so that each waits'],
    [
      { EUR: LIMIT },
      ['EUR', 'JPY'],
      'above what one person may waive, or no limit is set for JPY, so that each waits',
    ],
  ])('why one waits: %#', (limits, currencies, words) => {
    expect(waiverWaitsWords(limits, currencies)).toBe(words);
  });

  test('the limit of one person is that of refunds, else a named amount', () => {
    expect(waivedAloneMax(null, 'EUR')).toBe(50_000n);
    expect(waivedAloneMax({ EUR: 100n }, 'EUR')).toBe(100n);
    expect(waivedAloneMax({ EUR: 100n }, 'USD')).toBe(0n);
    expect(waivedAloneMax({ EUR: 100n }, null)).toBe(0n);
  });

  test.each([
    ['', 'must not be empty'],
    ['  ', 'must not be empty'],
    ['x'.repeat(1_001), 'is longer than 1000 characters'],
    ['a\u0000b', 'has a control character'],
    ['two\nlines', null],
    ['Ärger mit 漢字', null],
  ])('the words %j', (text, problem) => {
    expect(wordsProblem(text)).toBe(problem);
  });
});
