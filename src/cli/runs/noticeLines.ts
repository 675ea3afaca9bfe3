// What a person has to be told, a line each; the same of many accounts is one.

import { alikeLines, whoseLine } from '../../core/accounts/alike.js';
import type { Notice } from '../../core/runs/notices.js';
import type { Line } from '../terminal.js';

type Told = Pick<Notice, 'accountId' | 'text' | 'about'> & { kind: string };

export function noticeLines(notices: readonly Told[]): Line[] {
  return alikeLines(notices).map((line) => {
    return { text: `${whoseLine(line)}: ${line.first.text}`, tone: 'bad' };
  });
}
