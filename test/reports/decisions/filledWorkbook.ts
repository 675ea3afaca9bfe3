// A night's workbook with three breaks and an instruction to decide about, and what comes back of
// it after somebody has edited it, for the tests of this folder.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filledRows } from '../../../reports/decisions/decisionRows.js';
import { writeReconciliation } from '../../../reports/reconciliation.js';
import type { EnteredRow } from '../../../src/core/decisions/wantedDecision.js';
import type { Parts } from '../../support/workbookEdits.js';
import { edited, fill } from '../../support/workbookEdits.js';
import { ABOUT, breakRow, movementRow, runOf, sampleRun } from '../sampleRun.js';

export const SECRET = 'f'.repeat(64);
const BREAKS = ['1', '2', '3'];

export interface FilledWorkbook {
  folder: string;
  path: string;
  back(edit: (parts: Parts) => void): Promise<EnteredRow[]>;
  remove(): Promise<void>;
}

export async function writeWorkbookToFill(
  consoleAddress: string | null = null,
): Promise<FilledWorkbook> {
  const folder = await mkdtemp(join(tmpdir(), 'tieout-back-'));
  const path = join(folder, 'night.xlsx');
  const bound = (id: string) => ({ of: 'break' as const, id, last: '5', seen: 'a'.repeat(64) });
  const breaks = BREAKS.map((id) =>
    breakRow({ binding: bound(id), orderNo: `ORD-${id}`, note: 'two  blanks\nand a line' }),
  );
  const binding = { of: 'instruction' as const, id: '7', last: '0', seen: 'b'.repeat(64) };
  const waiting = [
    movementRow({ binding, state: 'held', holdReason: 'approval' }),
    movementRow({ orderNo: 'ORD-9', state: 'unknown' }),
  ];
  const about = { ...ABOUT, consoleAddress };
  await writeReconciliation(path, runOf(sampleRun({ about, breaks, waiting })));
  return {
    folder,
    path,
    back: async (edit) =>
      filledRows(await readFile(await edited(path, join(folder, 'back.xlsx'), edit)), SECRET),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export function noteAll(parts: Parts): void {
  for (const id of BREAKS) fill(parts, 'Breaks', id, { decision: 'note', reason: 'r' });
}
