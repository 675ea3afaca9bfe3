// What stands in a book of settlement and is not closed, in words: the same on the command line,
// the console and the sheet. Pure.

/** What an open item is; its amount is what of it is open, or was settled too much. */
export function openWords({ what, amount }: { what: string; amount: string }): string {
  const isBelow = amount.startsWith('-');
  switch (what) {
    case 'captured':
      return isBelow ? 'captured, and settled too much' : what;
    case 'refunded':
      return isBelow || amount === '0.00' ? what : 'refunded, and settled too much';
    case 'settled captured':
      return 'settled as captured, and no capture fits';
    case 'settled refunded':
      return 'settled as refunded, and no refund fits';
    default:
      return what;
  }
}
