// Whether digits that look like a card number are those of an id: ledger and gateway gave it as
// one, and the text names it. The one rule for what is stored (cardSpellings.ts) and for what is
// shown (masking.ts). Pure.

/** Fewer digits of an id than these could be a group of a card number. */
export const OWN_DIGITS_MIN = 8;

/**
 * Whether the text names an id whole to which the stretch belongs, or most of it: a reference is
 * the id of its transaction with a hyphen and two digits behind. `from` and `to` are its first and
 * last sign.
 */
export function isOfId(text: string, keep: readonly string[], from: number, to: number): boolean {
  // Only where it would meet the stretch: to look through the whole text for each id of a batch
  // took longer than all else that is done for it.
  return keep.some((id) => {
    if (id === '') return false;
    for (let at = Math.max(0, from - id.length + 1); at <= to; at += 1) {
      if (!text.startsWith(id, at)) continue;
      const end = at + id.length;
      if (at <= from && to < end) return true;
      const shared = text.slice(Math.max(at, from), Math.min(end, to + 1)).replace(/\D/g, '');
      const isWhole = !/\d/.test(text[at - 1] ?? '') && !/\d/.test(text[end] ?? '');
      if (isWhole && shared.length >= OWN_DIGITS_MIN) return true;
    }
    return false;
  });
}
