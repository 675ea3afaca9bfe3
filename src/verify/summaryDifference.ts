// Two summaries of the same run figure by figure: what stood in the first and what stands in the
// second, under the path of the figure. Files, times of day and what the gateway's answers look
// like are no figures; why an instruction was held is not on record for each time.

import type { RunSummary } from '../core/runs/summary.js';
import type { Difference } from './scratchStore.js';

export function differingFigures(then: RunSummary | null, now: RunSummary): Difference[] {
  const before = figuresOf(then ?? {});
  const after = figuresOf(now);
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [one, other] = [before.get(path) ?? null, after.get(path) ?? null];
    if (one === other) return [];
    // Not counted by the program that wrote it.
    if (one === null && /\.(failedLater|otherResult)$/.test(path)) return [];
    const [, accountId = null, figure = path] = /^accounts\.([^.]+)\.(.*)$/.exec(path) ?? [];
    return [{ accountId, orderNo: null, what: figure, was: one, is: other }];
  });
}

/** Every leaf by its path. A row of a list is told by its account or currency, else its place. */
function figuresOf(summary: Partial<RunSummary>): Map<string, string> {
  const figures = new Map<string, string>();
  const { reports: _, unwritten: __, drift: ___, ...counted } = summary;
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, part] of Object.entries(value)) {
        if (key === 'heldBySetting') continue;
        const name = Array.isArray(value) ? nameOf(part, key) : key;
        walk(part, path === '' ? name : `${path}.${name}`);
      }
    } else if (value !== undefined && value !== 0) figures.set(path, String(value));
  };
  walk(counted, '');
  return figures;
}

function nameOf(row: unknown, place: string): string {
  if (typeof row !== 'object' || row === null) return place;
  const named = row as { accountId?: string; currency?: string };
  return named.accountId ?? named.currency ?? place;
}
