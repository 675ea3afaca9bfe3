// Faults by rule: which requests they meet, what a wrong rule is told, and the endpoint.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type FaultRule,
  openFaultRules,
  parseFaultRules,
} from '../../src/sandbox/faults/faultRules.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import {
  ACCOUNT,
  compileProgram,
  type Program,
  startChild,
  startHere,
  temporaryFolder,
} from './startedSandbox.js';
import { batch, pay, query } from './wireClient.js';

/** Which of the first so many requests a rule meets. */
function met(rule: Partial<FaultRule>, seed = 1, requests = 12): number[] {
  const rules = openFaultRules(seed);
  rules.add([{ operation: 'capture', action: { kind: 'html' }, ...rule }]);
  const numbers = Array.from({ length: requests }, (_, at) => at + 1);
  return numbers.filter(() => rules.choose('capture') !== null);
}

describe('a rule', () => {
  it('meets every request, one of them, or each so many', () => {
    expect(met({}, 1, 3)).toEqual([1, 2, 3]);
    expect(met({ nth: 2 })).toEqual([2]);
    expect(met({ every: 4 })).toEqual([4, 8, 12]);
    expect(met({ operation: '*', nth: 3 })).toEqual([3]);
    expect(met({ operation: 'refund' })).toEqual([]);
  });

  it('by chance meets the same requests for the same seed', () => {
    const first = met({ probability: 0.3 }, 1, 1_000);
    expect(met({ probability: 0.3 }, 1, 1_000)).toEqual(first);
    expect(met({ probability: 0.3 }, 2, 1_000)).not.toEqual(first);
    expect(first.length).toBeGreaterThan(250);
    expect(first.length).toBeLessThan(350);
    expect(met({ probability: 0 })).toEqual([]);
    expect(met({ probability: 1 }, 1, 3)).toEqual([1, 2, 3]);
  });

  it('counts requests that another rule met', () => {
    const rules = openFaultRules(1);
    rules.add([
      { operation: '*', nth: 1, action: { kind: 'html' } },
      { operation: 'capture', nth: 2, action: { kind: 'truncate' } },
    ]);
    const kinds = [1, 2, 3].map(() => rules.choose('capture')?.kind ?? null);
    expect(kinds).toEqual(['html', 'truncate', null]);
    expect(rules.list().map(({ seen, done }) => [seen, done])).toEqual([
      [3, 1],
      [3, 1],
    ]);
  });
});

describe('rules as text', () => {
  const rule = '{ "operation": "capture", "nth": 1, "action": "drop" }';
  const read = {
    operation: 'capture',
    nth: 1,
    action: { kind: 'drop', when: 'after', how: 'rst' },
  };

  it('are a JSON array, one JSON object, or one object a line', () => {
    expect(parseFaultRules(`[${rule}, ${rule}]`)).toEqual([read, read]);
    expect(parseFaultRules(rule)).toEqual([read]);
    expect(parseFaultRules(`${rule}\n\n  ${rule}\n`)).toEqual([read, read]);
    expect(parseFaultRules('')).toEqual([]);
  });

  it.each<[string, object]>([
    ['"status"', { kind: 'status', status: 502, when: 'after' }],
    ['"redirect"', { kind: 'redirect', status: 307, when: 'before', location: '' }],
    ['{ "kind": "slow", "ms": 50 }', { kind: 'slow', ms: 50 }],
    ['{ "kind": "late", "ms": 50 }', { kind: 'late', ms: 50, answer: 'drop' }],
    ['"page_shifted"', { kind: 'page_shifted' }],
    ['"entries_swapped"', { kind: 'entries_swapped' }],
  ])('read the action %s with its defaults', (action, whole) => {
    const [parsed] = parseFaultRules(`{ "operation": "*", "action": ${action} }`);
    expect(parsed?.action).toEqual(whole);
  });

  it.each([
    ['nonsense', 'line 1: is no JSON'],
    [`${rule}\n{`, 'line 2: is no JSON'],
    ['[1]', 'rule 1: is no object'],
    ['{ "operation": "pay", "action": "drop" }', 'operation is one of *, authorise'],
    ['{ "operation": "*" }', 'action: is no object'],
    ['{ "operation": "*", "action": "explode" }', 'action is one of drop, status'],
    ['{ "operation": "*", "action": "toString" }', 'action is one of drop, status'],
    ['{ "operation": "*", "action": { "kind": "drop", "ms": 1 } }', 'unknown key ms'],
    ['{ "operation": "*", "action": { "kind": "drop", "when": "now" } }', 'is one of before'],
    ['{ "operation": "*", "action": "slow" }', 'slow: ms must be given'],
    ['{ "operation": "*", "action": { "kind": "status", "status": 200 } }', 'from 400 to 599'],
    ['{ "operation": "*", "nth": 0, "action": "drop" }', 'nth is a number from 1'],
    ['{ "operation": "*", "every": 1.5, "action": "drop" }', 'every is a number from 1'],
    ['{ "operation": "*", "probability": 2, "action": "drop" }', 'probability is a number'],
    ['{ "operation": "*", "nth": 1, "every": 2, "action": "drop" }', 'exclude each other'],
    ['{ "operation": "*", "often": 1, "action": "drop" }', 'unknown key often'],
  ])('such as %s are refused', (text, reason) => {
    expect(() => parseFaultRules(text)).toThrow(reason);
  });
});

describe('the endpoint of faults', () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await startHere();
  });
  afterEach(() => sandbox.close());

  const call = (method: string, body?: string) =>
    fetch(`${sandbox.baseUrl}/_sandbox/faults`, { method, ...(body ? { body } : {}) });

  it('adds rules that count from then on, lists and clears them', async () => {
    const entry = await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    const added = await call('POST', '{ "operation": "capture", "nth": 1, "action": "drop" }');
    expect(added.status).toBe(200);
    await expect(batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry])).rejects.toThrow();
    const [shown] = await query(sandbox.baseUrl, ACCOUNT, ['X-1']);
    expect(shown?.payment_status).toBe('3000');
    await batch(sandbox.baseUrl, ACCOUNT, 'capture', [entry]);
    expect(await (await call('GET')).json()).toMatchObject([{ seen: 2, done: 1 }]);
    await call('POST', '[{ "operation": "retrievalTrans", "action": "html" }]');
    await expect(query(sandbox.baseUrl, ACCOUNT, ['X-1'])).rejects.toThrow('JSON');
    expect(await (await call('DELETE')).json()).toEqual([]);
    await expect(query(sandbox.baseUrl, ACCOUNT, ['X-1'])).resolves.toHaveLength(1);
  });

  it('says what is wrong with a rule and takes none of them', async () => {
    const good = '{ "operation": "*", "action": "html" }';
    const refused = await call('POST', `[${good}, { "operation": "*" }]`);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({ error: 'rule 2: action: is no object' });
    expect(await (await call('GET')).json()).toEqual([]);
  });
});

describe('tieout sandbox --faults', () => {
  let program: Program;
  beforeAll(() => {
    program = compileProgram();
  });
  afterAll(() => program.remove());

  it('lets happen what the file says, strictly and for registered callers only', async () => {
    const file = join(temporaryFolder(), 'faults.ndjson');
    writeFileSync(file, '{ "operation": "capture", "every": 2, "action": "status" }\n');
    const flags = ['--port', '0', '--orders', '0', '--faults', file];
    const child = await startChild(program, [...flags, '--strict', '--allow', '192.0.2.7']);
    const [account] = child.accounts;
    if (account === undefined) throw new Error('no account');
    const entry = await pay(child.baseUrl, account, 'X-1');
    await expect(query(child.baseUrl, account, ['X-1'])).rejects.toThrow('is not registered');
    await batch(child.baseUrl, account, 'capture', [entry]);
    await expect(batch(child.baseUrl, account, 'capture', [entry])).rejects.toThrow('JSON');
    const part = { ...entry, refund_amount: '1.00', refund_reason: '' };
    const { results } = await batch(child.baseUrl, account, 'refund', [part, part]);
    expect(results.map((one) => one.refund_status)).toEqual(['1', '0']);
    expect(await child.end('SIGTERM')).toBe(0);
  });
});
