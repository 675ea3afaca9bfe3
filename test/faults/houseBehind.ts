// A house whose program reaches the gateway only through a front, so that anything can happen on
// the way. For tests of faults.

import type { House, HouseOptions } from '../support/night.js';
import { buildHouse } from '../support/night.js';
import type { Front } from './front.js';
import { startFront } from './front.js';

export async function houseBehind(options: HouseOptions): Promise<{ house: House; front: Front }> {
  const opened: Front[] = [];
  const house = await buildHouse({
    ...options,
    through: async (sandboxUrl) => {
      const front = await startFront(sandboxUrl);
      opened.push(front);
      return front;
    },
  });
  const [front] = opened as [Front];
  return { house, front };
}
