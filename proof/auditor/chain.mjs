// The chain of digests, worked out again from what is there: every link follows the one before it,
// says of itself what it is, and seals exactly the facts about money that bear its number. Shares
// no code with tieout; the shape of a link stands in docs/AUDIT.md.

import { createHash } from 'node:crypto';
import { groupBy } from './books.mjs';

/** Kinds of facts whose text is read here and digested anew. */
export const SEALED_KINDS = ['answer', 'attempt', 'decision', 'instruction'];

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}

/** By position, then by the bytes of the text. */
function inOrder(one, other) {
  const [a, b] = [BigInt(one.pos), BigInt(other.pos)];
  if (a !== b) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(one.line), Buffer.from(other.line));
}

export function linesDigest(lines) {
  const sorted = [...lines].sort(inOrder);
  return sha256(sorted.map(({ line }) => `${line}\n`).join(''));
}

export function linkDigest(link) {
  const { account_id, link_no, day, what, facts, facts_sha256, previous_sha256 } = link;
  const said = [account_id, link_no, day, what, facts, facts_sha256, previous_sha256];
  return sha256(`${said.join('\n')}\n`);
}

export function chainUnbroken({ links = [], heads = [], sealed = [] }) {
  const found = [];
  const linesOf = groupBy(sealed, (row) => `${row.link_id} ${row.what} ${row.account_id}`);
  const headOf = new Map(heads.map((head) => [head.account_id, head]));
  const chains = groupBy(links, (link) => link.account_id);
  for (const account of new Set([...chains.keys(), ...headOf.keys()])) {
    let last = { link_no: 0, sha256: '' };
    for (const link of chains.get(account) ?? []) {
      const lines = linesOf.get(`${link.link_id} ${link.what} ${account}`) ?? [];
      const wrong = whatIsWrong(link, last, lines);
      if (wrong !== null) found.push(`link ${link.link_no} of "${account}": ${wrong}`);
      last = link;
    }
    const head = headOf.get(account) ?? { link_no: 0, sha256: '' };
    if (Number(head.link_no) !== Number(last.link_no) || head.sha256 !== last.sha256) {
      found.push(`the chain of "${account}" ends at ${last.link_no}, sealed were ${head.link_no}`);
    }
  }
  return found;
}

function whatIsWrong(link, last, lines) {
  if (Number(link.link_no) !== Number(last.link_no) + 1) return 'the one before it is not there';
  if (link.previous_sha256 !== last.sha256) return 'it does not follow the one before it';
  if (linkDigest(link) !== link.sha256) return 'it was changed';
  if (!SEALED_KINDS.includes(link.what)) return null;
  if (lines.length !== Number(link.facts))
    return `${lines.length} of its ${link.facts} facts are there`;
  return linesDigest(lines) === link.facts_sha256 ? null : 'a fact that it seals was changed';
}
