// How much garbage the process carries before it is collected. Left to itself the engine waits
// until the heap is several times what is in use, and the longer the more is in use: pages long
// stored, rows long written. Here it may grow by the same amount whatever is in use, so that a long
// night takes little more memory than a short one. Neighbour: main.ts begins it.

import type { NodeGCPerformanceDetail } from 'node:perf_hooks';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** By this much the heap grows, since it was collected as a whole, before it is again; */
const ROOM_BYTES = 16 * 1024 * 1024;
/** in percent of what is in use, so that who holds very much does not collect all the time; */
const GROWTH_PERCENT_MIN = 30;
/** and who is still loading the program, which is there to stay, does so seldom. */
const GROWTH_PERCENT_MAX = 80;

/** From now on to the end of the process. */
export function keepHeapSmall(): void {
  growBy(GROWTH_PERCENT_MAX);
  new PerformanceObserver((list) => {
    const wasWhole = list.getEntries().some((entry) => isWhole(entry));
    if (wasWhole) growBy(growthPercent(getHeapStatistics().used_heap_size));
  }).observe({ entryTypes: ['gc'] });
}

/** The young part alone is collected all the time, which says nothing of the rest. */
function isWhole(entry: object): boolean {
  const { detail } = entry as { detail: NodeGCPerformanceDetail };
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

/** At which growth the heap is collected while so much of it is in use. */
export function growthPercent(usedBytes: number): number {
  const percent = Math.floor((100 * ROOM_BYTES) / usedBytes);
  return Math.min(GROWTH_PERCENT_MAX, Math.max(GROWTH_PERCENT_MIN, percent));
}

/** The engine reads it each time it has collected the whole heap. */
function growBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
