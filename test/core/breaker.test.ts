// What may stop an account, as a table: core/instructions/breaker.ts. test/instructions/instructionLife.test.ts holds
// the list of states against the database.

import { describe, expect, test } from 'vitest';
import type { Brake, SendingFacts } from '../../src/core/instructions/breaker.js';
import { isLetGo, mayAccountSend, SENDING_STATES } from '../../src/core/instructions/breaker.js';

const GOING: SendingFacts = {
  accountId: 'A1001',
  hasRun: true,
  block: null,
  state: 'open',
  reason: null,
  brakes: [],
  at: new Date('2026-11-20T03:00:00Z'),
};
const LIVE = [{ accountId: 'A1001', liveFrom: new Date('2026-11-20T03:00:00Z') }];
const BRAKE: Brake = {
  kind: 'brake',
  accountId: null,
  reason: 'odd answers',
  by: 'Kim',
  at: new Date('2026-11-20T03:00:00Z'),
};

describe('may an account send', () => {
  test.each([
    ['open', 'open'],
    ['untried', 'canary'],
    ['canary', 'wait'],
    ['stopped', 'stop'],
  ] as const)('%s: %s', (state, answer) => {
    expect(mayAccountSend({ ...GOING, state }, LIVE).kind).toBe(answer);
  });

  test.each<[string, Partial<SendingFacts>, RegExp]>([
    ['no run', { hasRun: false }, /no run/],
    ['a block of its run', { block: 'no_history' }, /no_history/],
    [
      'a brake',
      { brakes: [BRAKE] },
      /^sending is stopped for all accounts since .*Kim: odd answers/,
    ],
    [
      'a brake of the account',
      { brakes: [{ ...BRAKE, accountId: 'A1' }] },
      /^sending is stopped for account A1 since/,
    ],
    ['a freeze', { brakes: [{ ...BRAKE, kind: 'freeze' }] }, /all sending is frozen/],
    ['the breaker', { state: 'stopped', reason: '2 batches' }, /for the rest of the run: 2 batch/],
  ])('never with %s, whatever its canary says', (_, facts, words) => {
    for (const state of SENDING_STATES) {
      const answer = mayAccountSend({ ...GOING, state, ...facts }, LIVE);
      expect(answer).toMatchObject({ kind: 'stop', reason: expect.stringMatching(words) });
    }
  });
});

describe('what a person may let go', () => {
  const words = (facts: Partial<SendingFacts>): string => {
    const answer = mayAccountSend({ ...GOING, ...facts }, LIVE);
    return answer.kind === 'stop' ? answer.reason : '';
  };

  test.each<[string, Partial<SendingFacts>, string]>([
    [
      'the breaker',
      { state: 'stopped', reason: '2 batches' },
      'tieout brake off --account A1001 --reason TEXT',
    ],
    ['a brake on all', { brakes: [BRAKE] }, 'tieout brake off --reason TEXT'],
    [
      'a brake of the account',
      { brakes: [{ ...BRAKE, accountId: 'A1001' }] },
      'tieout brake off --account A1001 --reason TEXT',
    ],
    ['a freeze', { brakes: [{ ...BRAKE, kind: 'freeze' }] }, 'tieout brake off --reason TEXT'],
  ])('%s: says what to type', (_, facts, command) => {
    expect(words(facts)).toContain(`: ${command}`);
  });

  test.each<[string, Date | null, RegExp]>([
    ['has no liveFrom', null, /^the account is only observed, nothing is sent until/],
    ['lies ahead', new Date('2026-11-20T03:00:01Z'), /^the account is only observed until its/],
  ])('whose liveFrom %s is only observed now, whatever its run said', (_, liveFrom, reason) => {
    const answer = mayAccountSend(GOING, [{ accountId: 'A1001', liveFrom }]);
    const stops = { kind: 'stop', reason: expect.stringMatching(reason) };
    expect([answer, isLetGo(answer)]).toEqual([{ ...stops, by: 'configuration' }, false]);
  });

  test('one that the configuration does not name is sent by another', () => {
    const answer = mayAccountSend(GOING, []);
    const reason = expect.stringContaining('account A1001 is not in this configuration');
    expect(answer).toEqual({ kind: 'stop', by: 'configuration', reason });
  });

  test('an account that is only observed is let go by no brake', () => {
    expect(words({ block: 'observed' })).not.toContain('brake off');
  });
});
