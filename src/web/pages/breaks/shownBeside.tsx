// What the gateway shows of an order beside state and money, as a list an entry; persons are masked
// where it is read (orders/shownRecord.ts). On the pages of an order and of a break.

import type { OrderHistory } from '../../../orders/historyStore.js';
import { shownLines } from '../../../orders/shownRecord.js';
import type { Words } from '../../format.js';

export function ShownEntries({ shown, words }: { shown: OrderHistory['shown']; words: Words }) {
  const entries = (shown?.entries ?? []).map(shownLines).filter((lines) => lines.length > 0);
  if (shown === null || entries.length === 0) return null;
  return (
    <>
      {entries.map((lines) => (
        <ul>
          {lines.map((line) => (
            <li>{line}</li>
          ))}
        </ul>
      ))}
      <p class="hint">Checked at {words.at(shown.at)}; persons are masked.</p>
    </>
  );
}
