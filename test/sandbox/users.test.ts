// Who still uses a sandbox: the last one out turns it off.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { trackUsers, USER_SILENCE_MS } from '../../src/sandbox/users.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function track() {
  const onUnused = vi.fn();
  return { users: trackUsers({ now: () => new Date(), onUnused }), onUnused };
}

describe('the users of a sandbox', () => {
  it('let it go at once when the last of them leaves, and only then', () => {
    const { users, onUnused } = track();
    users.announce('a');
    users.announce('b');
    users.leave('a');
    users.leave('a');
    expect(onUnused).not.toHaveBeenCalled();
    users.leave('b');
    expect(onUnused).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(10 * USER_SILENCE_MS);
    expect(onUnused).toHaveBeenCalledTimes(1);
  });

  it('keep it while they announce themselves, and are forgotten when they fall silent', () => {
    const { users, onUnused } = track();
    for (let times = 0; times < 5; times += 1) {
      users.announce('a');
      vi.advanceTimersByTime(USER_SILENCE_MS - 5_000);
    }
    expect(onUnused).not.toHaveBeenCalled();
    vi.advanceTimersByTime(3 * USER_SILENCE_MS);
    expect(onUnused).toHaveBeenCalledTimes(1);
  });

  it('are waited for when nobody has come yet, but not for ever', () => {
    const { users, onUnused } = track();
    users.leave('nobody');
    vi.advanceTimersByTime(USER_SILENCE_MS - 2_000);
    expect(onUnused).not.toHaveBeenCalled();
    vi.advanceTimersByTime(5_000);
    expect(onUnused).toHaveBeenCalledTimes(1);
  });
});
