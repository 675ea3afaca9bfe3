// The rows of the reports bench: the same for every writer, made while they are written so that no
// list of them takes memory. The other writers write thirteen columns of it; the file of all orders
// has what each side captured and refunded as well.

const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF'];
const STATES = ['captured', 'authorised', 'refunded', 'cancelled'];
const CODES = ['3000', '2000', '6500', '4000'];
const FIRST = Date.UTC(2026, 9, 1);
const STEP_MS = 2_600;
const CHUNK = 250;

export const HEADINGS = [
  ...['Account', 'Order', 'Class', 'Breaks', 'Ledger', 'Gateway', 'Gateway code', 'Currency'],
  ...['Ledger amount', 'Gateway amount', 'Transaction', 'Gateway date (as printed)', 'Placed'],
];

export function orderRow(i) {
  const cents = ((i * 7_919) % 10_000_000) + 1;
  const isBroken = i % 200 === 0;
  const shown = isBroken ? cents + (i % 37) + 1 : cents;
  const placedAt = new Date(FIRST + i * STEP_MS);
  return {
    accountId: `A100${1 + (i % 5)}`,
    orderNo: `SO-20261001-${String(i).padStart(8, '0')}`,
    class: isBroken ? 'broken' : 'matched',
    kinds: isBroken ? 'amount_mismatch' : '',
    expected: STATES[i & 3],
    gatewayState: STATES[i & 3],
    paymentStatus: CODES[i & 3],
    currency: CURRENCIES[(i >> 2) & 3],
    ledgerAmount: (cents / 100).toFixed(2),
    gatewayAmount: (shown / 100).toFixed(2),
    gatewayCurrency: CURRENCIES[(i >> 2) & 3],
    ledgerCaptured: taken(i, cents),
    gatewayCaptured: taken(i, shown),
    ledgerRefunded: (i & 3) === 2 ? (cents / 100).toFixed(2) : '0.00',
    gatewayRefunded: (i & 3) === 2 ? (shown / 100).toFixed(2) : '0.00',
    transactionId: `2026100100${String((i * 104_729) % 1e10).padStart(16, '0')}`,
    transactionDate: placedAt.toISOString().replace(/\D/g, '').slice(0, 14),
    placedAt,
  };
}

/** Captured and refunded orders were captured. */
function taken(i, cents) {
  return i % 2 === 0 ? (cents / 100).toFixed(2) : '0.00';
}

export async function* orderRows(count) {
  for (let first = 0; first < count; first += CHUNK) {
    const rows = [];
    for (let i = first; i < Math.min(count, first + CHUNK); i += 1) rows.push(orderRow(i));
    yield rows;
  }
}
