// Who may call a process dead: only somebody who sees the same numbers mean the same processes. A
// namesake on another machine, or in another container, may be at the one write just now.

import { describe, expect, it } from 'vitest';
import { isAlive, thisProcess } from '../src/processes/identity.js';

describe('a process', () => {
  const self = thisProcess();

  it('is alive while it runs, and gone when its number is another one by now', () => {
    expect(isAlive(self)).toBe(true);
    expect(isAlive({ ...self, started: '1' })).toBe(false);
    expect(isAlive({ ...self, pid: 2 ** 22 })).toBe(false);
  });

  it('is gone when the machine was booted since', () => {
    expect(isAlive({ ...self, boot: 'another boot' })).toBe(false);
  });

  it.each([
    ['another machine of the same name', self.host.replace(/#.*/, '#00000000')],
    ['another container of the same name', `${self.host}/4026532999`],
    ['another host', 'elsewhere'],
  ])('of %s is never called gone from here', (_, host) => {
    expect(isAlive({ ...self, host, boot: 'another boot' })).toBeNull();
  });
});
