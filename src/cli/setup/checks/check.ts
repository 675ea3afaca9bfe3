// One line of what `tieout doctor` says. Neighbours: doctor.ts, settlementChecks.ts.

import { alikeLines, whoseLine } from '../../../core/accounts/alike.js';

export interface Check {
  name: string;
  kind: 'ok' | 'warning' | 'problem';
  words: string;
  /** whose it is; its name ends with it. Absent: nobody's in particular */
  accountId?: string;
}

/** For a person who reads: what is the same of many accounts is one line, in place of the first. */
export function gathered(checks: readonly Check[]): Check[] {
  const told = checks.map((check, at) => {
    const { name, kind, words, accountId } = check;
    const part = accountId === undefined ? `${at}` : nameOf(name, accountId);
    return { accountId: accountId ?? '', kind: `${kind} ${part}`, about: words, check };
  });
  return alikeLines(told).map((line) => {
    const { check, accountId } = line.first;
    if (line.accountIds.length === 1) return check;
    const words = `${whoseLine(line)}: ${check.words}`;
    return { ...check, name: nameOf(check.name, accountId), words };
  });
}

function nameOf(name: string, accountId: string): string {
  return name.slice(0, name.length - accountId.length).trimEnd();
}
