// What an import of settlement files says of itself: its batches with what they come to, or the
// lines that were refused. Neighbours: importSettlement.ts makes it, cli/ledger/importSettlement.ts
// prints it.

import { amountIn, countText, moneyIn } from '../../core/text/amounts.js';
import type { ImportCounts, ImportProblem } from '../imports/importResult.js';
import { refusedLines } from '../imports/importResult.js';
import type { FoundBatch } from './takenLinesStore.js';

/** Batches told one by one; what is left is a number. */
export const BATCHES_TOLD_MAX = 1_000;

export type SettlementImport =
  | ({
      readonly kind: 'imported';
      /** true: --check; nothing was written. */
      readonly check: boolean;
      /** of batches and currencies */
      readonly batchCount: number;
      readonly batches: readonly FoundBatch[];
      readonly warnings: readonly string[];
    } & ImportCounts)
  | {
      readonly kind: 'refused';
      readonly problems: readonly ImportProblem[];
      readonly more: boolean;
    };

/** The result in words, without a line break at its end. */
export function formatSettlement(result: SettlementImport): string {
  if (result.kind === 'refused') return refusedLines(result);
  const { inserted, unchanged, batchCount, batches, check } = result;
  const [added, same, into] = [inserted, unchanged, batchCount].map((count) => countText(count));
  const counts = `lines inserted ${added}, unchanged ${same}, in batches ${into}`;
  const rest = batchCount - batches.length;
  return [
    check ? `check only, nothing was written: ${counts}` : counts,
    ...batches.map(batchLine),
    ...(rest > 0 ? [`  and ${rest} more batches`] : []),
  ].join('\n');
}

function batchLine({ accountId, batch, currency, lines, payout, fate, sums }: FoundBatch) {
  const types = Object.entries(sums).map(
    ([type, sum]) => `${type} ${countText(sum.lines)}: net ${amountIn(sum.net, currency)}`,
  );
  const state = fate === 'inserted' ? 'new' : 'known, nothing changes';
  const money = moneyIn(payout, currency);
  const head = `  ${accountId} batch ${batch}: ${countText(lines)} lines, pays out ${money}`;
  return `${head} (${types.join('; ')}); ${state}`;
}
