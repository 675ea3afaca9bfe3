// No refund of disputed money goes out that was not approved by a person after the dispute was known
// (I16). `disputed` is each change of a dispute, and when; books without it say nothing. Shares no
// code with tieout.

import { bodyOf, groupBy, isByHand, movedOf } from './books.mjs';

const HOLDS = new Set(['opened', 'lost']);

export function disputedSeen(joined) {
  const { effects, ownerOf, attemptsOf, disputed, approvals, forgotten } = joined;
  if (disputed === undefined) return [];
  const found = [];
  const changes = groupBy(disputed, ({ account_id }) => account_id);
  const approved = groupBy([...approvals, ...(forgotten.approvals ?? [])], ({ id }) => id);
  for (const effect of effects) {
    const owner = ownerOf.get(effect);
    if (effect.operation !== 'refund' || isByHand(effect) || !owner) continue;
    const claims = (attemptsOf.get(bodyOf(effect)) ?? []).filter(
      ({ outcome }) => outcome !== 'not_sent',
    );
    const mine = (changes.get(owner.account_id) ?? []).filter((one) => isOf(one, owner));
    const seen = (approved.get(owner.id) ?? []).map((one) => one.approved);
    const isUnseen = ({ claimed }) =>
      openSince(mine, claimed).some((since) => !seen.some((at) => at > since && at <= claimed));
    if (claims.length > 0 && claims.every(isUnseen)) {
      found.push(
        `refund ${owner.id} of ${owner.account_id} ${owner.order_no} (${movedOf(effect)}) went ` +
          'out, its payment was disputed, and nobody had seen that',
      );
    }
  }
  return found;
}

function isOf({ order_no, transaction_id }, row) {
  return order_no === row.order_no || (transaction_id ?? '') === row.transaction_id;
}

/** When each dispute that stood open at that time came into its stage. */
function openSince(changes, at) {
  return [...groupBy(changes, ({ dispute_id }) => dispute_id).values()]
    .map((all) => all.findLast((one) => one.at < at))
    .filter((one) => one !== undefined && HOLDS.has(one.stage))
    .map((one) => one.at);
}
