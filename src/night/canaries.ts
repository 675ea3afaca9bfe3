// Which accounts have a canary on its way from this process, so that a few batches of the same
// account stand by for its end instead of being rung for afterwards. Only a hint for the time of
// looking: whether a batch may go is what PostgreSQL says then, and in its claim once more.

import { openSlots } from '../gateway/slots.js';

export interface Canaries {
  /** True: this batch goes ahead for its account; false: another one does already. */
  goAhead(accountId: string, batchId: bigint): boolean;
  /** Tells those that follow; may be said twice. */
  ended(accountId: string, batchId: bigint): void;
  /**
   * True when the one that went ahead has ended; false: none did, or it takes too long. A few of
   * those that follow do something useful meanwhile.
   */
  follow(accountId: string, meanwhile: () => Promise<void>): Promise<boolean>;
}

/** A gateway that takes longer is slow: those that follow go home, and are rung for again. */
const FOLLOW_MS_MAX = 1_000;
/** More would keep the canaries of other accounts from the processor. */
const USEFUL_AT_ONCE = 2;

interface Ahead {
  batchId: bigint;
  followers: Set<(isEnded: boolean) => void>;
}

export function openCanaries(followMsMax = FOLLOW_MS_MAX): Canaries {
  const ahead = new Map<string, Ahead>();
  const slots = openSlots(USEFUL_AT_ONCE);
  return {
    goAhead: (accountId, batchId) => {
      if (ahead.has(accountId)) return false;
      ahead.set(accountId, { batchId, followers: new Set() });
      return true;
    },
    ended: (accountId, batchId) => {
      const one = ahead.get(accountId);
      if (one?.batchId !== batchId) return;
      ahead.delete(accountId);
      for (const tell of one.followers) tell(true);
    },
    follow: async (accountId, meanwhile) => {
      const one = ahead.get(accountId);
      if (one === undefined) return false;
      const told = toldBy(one, followMsMax);
      await slots(async () => {
        if (ahead.get(accountId) === one) await meanwhile();
      });
      return await told;
    },
  };
}

function toldBy({ followers }: Ahead, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const tell = (isEnded: boolean): void => {
      clearTimeout(timer);
      followers.delete(tell);
      resolve(isEnded);
    };
    const timer = setTimeout(() => tell(false), ms);
    followers.add(tell);
  });
}
