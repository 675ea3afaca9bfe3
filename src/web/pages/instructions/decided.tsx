// One decision about an instruction, in a sentence: on its page, and on that of its order.

import { nameLabel } from '../../../core/instructions/decider.js';
import { labelOf } from '../../../core/text/labels.js';
import type { SheetDecision } from '../../../instructions/instructionListStore.js';
import type { Words } from '../../format.js';

type Said = Omit<SheetDecision, 'expiresAt' | 'seen'>;

/** `keep` are identifiers in its words; the digest is that of what was seen. */
export function Decided(props: { one: Said; keep: readonly string[]; words: Words }) {
  const { one, keep, words } = props;
  const { finding } = one;
  return (
    <>
      <strong>{one.decision}</strong>
      {finding === null ? '' : ` ${labelOf(finding)}`} by {nameLabel(one.by, one.isClaim)} at{' '}
      {words.at(one.at)}
      {one.reason === null ? '' : `: ${words.free(one.reason, keep)}`}
      {one.reference === null ? '' : `; reference ${words.free(one.reference, keep)}`}. Seen (
      <code>{one.seenSha256.slice(0, 12)}</code>)
    </>
  );
}
