// What a person has to be told, a line each; the same of many accounts is one.

import { alikeLines, whoseLine } from '../../core/accounts/alike.js';
import type { Notice } from '../../core/runs/notices.js';
import { counted } from '../../core/text/amounts.js';
import type { Waiting } from '../../report/consoleRunsStore.js';
import type { Line } from '../terminal.js';

type Told = Pick<Notice, 'accountId' | 'text' | 'about'> & { kind: string };

export function noticeLines(notices: readonly Told[]): Line[] {
  return alikeLines(notices).map((line) => {
    return { text: `${whoseLine(line)}: ${line.first.text}`, tone: 'bad' };
  });
}

/** What a person had planned again: the run that it is of does not, however often it is begun. */
export function replannedLines(
  { replanned }: Pick<Waiting, 'replanned'>,
  run: { businessDate: string } | null,
): Line[] {
  if (replanned === 0 || run === null) return [];
  const text =
    `Planned by a run of a later date than ${run.businessDate}, where it is still needed: ` +
    `${counted(replanned, 'instruction')} that a person had planned again.`;
  return [{ text, tone: 'warn' }];
}
