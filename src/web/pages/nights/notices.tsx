// What a person is told of a night beside its figures: what is the same of many accounts is one
// line, and good news comes last.

import { alikeLines, whoseLine } from '../../../core/accounts/alike.js';
import type { Notice } from '../../../core/runs/notices.js';
import { counted } from '../../../core/text/amounts.js';
import { Said } from '../../layout/said.js';

/** Lines that are seen at once, and those that can be opened behind them. */
const SEEN_MAX = 20;
const LISTED_MAX = 200;

interface NoticesProps {
  notices: readonly Notice[];
  zone: string;
  label: string;
}

export function Notices({ notices, zone, label }: NoticesProps) {
  if (notices.length === 0) return null;
  const asksNobody = ({ kind }: Notice) => kind === 'first_seen_word';
  const lines = alikeLines([
    ...notices.filter((one) => !asksNobody(one)),
    ...notices.filter(asksNobody),
  ]);
  const list = (from: number, to: number, name: string) => (
    <ul class="waits" aria-label={name}>
      {lines.slice(from, to).map((line) => (
        <li class={line.first.kind === 'not_sent' ? 'problem' : ''}>
          {whoseLine(line)}: <Said text={line.first.text} zone={zone} />
        </li>
      ))}
    </ul>
  );
  const more = lines.length - SEEN_MAX;
  const left = lines.length - LISTED_MAX;
  return (
    <>
      {list(0, SEEN_MAX, label)}
      {more <= 0 ? null : (
        <details>
          <summary>{counted(more, 'more line')}</summary>
          {list(SEEN_MAX, LISTED_MAX, `${label}, the rest`)}
          {left <= 0 ? null : <p class="hint">{counted(left, 'line')} not shown here.</p>}
        </details>
      )}
    </>
  );
}
