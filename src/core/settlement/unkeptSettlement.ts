// Breaks of settlement that stay open although tieout.yaml has the section no more, in words: no
// night looks at what they are about, so none of them goes away by itself. Pure.

import type { Notice } from '../runs/notices.js';
import { countText } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';

export interface UnkeptBreaksFacts {
  accountId: string;
  /** open ones by kind */
  breaks: Readonly<Record<string, number>>;
  /** the order or batch of the oldest */
  sample: string;
}

/** They count among the open breaks as before: what nobody looked at is not settled. */
export function unkeptBreaksNotice({ accountId, breaks, sample }: UnkeptBreaksFacts): Notice {
  const found = Object.values(breaks).reduce((sum, one) => sum + one, 0);
  const kinds = Object.entries(breaks).map(
    ([kind, count]) => `${countText(count)} ${labelOf(kind)}`,
  );
  const what = found === 1 ? '1 break of settlement is' : `${found} breaks of settlement are`;
  const about = `${what} open, which no night looks at any more`;
  const text =
    `${what} open (${kinds.join(', ')}; such as ${sample}), and tieout.yaml has no section ` +
    'settlement any more: no night looks at them, and they end each with 3. Put the section ' +
    'back, or waive them (`tieout breaks waive ID --reason TEXT`)';
  return { accountId, kind: 'settlement_not_kept', about, text, names: [sample] };
}
