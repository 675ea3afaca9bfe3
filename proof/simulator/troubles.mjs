// How the answer to a batch goes wrong, for the simulator: what happens at the gateway (nothing,
// all, half, later) and what the caller then sees. Pure, but for the gateway that it is handed.

const JSON_TYPE = 'application/json';
const PAGE = '<!doctype html><p>Please come back later.</p>';
const MINUTE_MS = 60_000;

/** [weight, name]; a name that says `late` lets the effect come after the caller has gone. */
export const TROUBLES = [
  [3, 'reset before the effect'],
  [3, 'reset after the effect'],
  [2, 'late effect'],
  [1, '502 before the effect'],
  [2, '502 after the effect'],
  [1, 'redirect before the effect'],
  [1, 'redirect after the effect'],
  [1, 'a page for people'],
  [1, 'cut in half'],
  [1, 'half the batch, then reset'],
  [1, 'entry missing'],
  [1, 'entry twice'],
  [1, 'entry nobody asked for'],
  [1, 'entries swapped'],
  [1, 'entries reordered'],
  [1, 'another amount'],
  [1, 'another currency'],
  [1, 'unknown code'],
  [1, 'refused, yet done'],
  [1, 'another account'],
  [1, 'no answer in time'],
];

/** Those that need no entries in the answer: all that can happen to a payout. */
const WITHOUT_ENTRIES = new Set([
  'reset before the effect',
  'reset after the effect',
  'late effect',
  '502 before the effect',
  '502 after the effect',
  'redirect before the effect',
  'redirect after the effect',
  'a page for people',
  'cut in half',
  'another account',
  'no answer in time',
]);
export const TROUBLES_OF_PAYOUTS = TROUBLES.filter(([, name]) => WITHOUT_ENTRIES.has(name));

/** What the caller sees: a MoneyPost. `later(ms, work)` lets something happen at a later time. */
export function happen(trouble, { operate, array, later, random }) {
  switch (trouble) {
    case 'reset before the effect':
      return unknown('the connection was reset');
    case 'late effect':
      later(random.between(1, 9) * MINUTE_MS, () => operate());
      return unknown('no answer in time');
    case '502 before the effect':
      return answered(502, PAGE);
    case 'redirect before the effect':
      return answered(307, '');
    case 'half the batch, then reset':
      operate(0.5);
      return unknown('the connection was reset');
    default:
      return afterTheEffect(trouble, operate(), array, random);
  }
}

function afterTheEffect(trouble, truth, array, random) {
  const entries = truth[array] ?? [];
  const told = (changed) => answered(200, JSON.stringify({ ...truth, [array]: changed }));
  const [first, second, ...rest] = entries;
  switch (trouble) {
    case 'reset after the effect':
    case 'no answer in time':
      return unknown(trouble);
    case '502 after the effect':
      return answered(502, PAGE);
    case 'redirect after the effect':
      return answered(307, '');
    case 'a page for people':
      return answered(200, PAGE);
    case 'cut in half': {
      const text = JSON.stringify(truth);
      return answered(200, text.slice(0, random.between(1, text.length - 1)));
    }
    case 'entry missing':
      return told(entries.slice(1));
    case 'entry twice':
      return told([first, ...entries]);
    case 'entry nobody asked for':
      return told([...entries, { ...first, order_no: 'NOBODY-1' }]);
    case 'entries swapped': {
      if (second === undefined) return told(entries);
      const ids = ({ order_no, transaction_id }) => ({ order_no, transaction_id });
      return told([{ ...first, ...ids(second) }, { ...second, ...ids(first) }, ...rest]);
    }
    case 'entries reordered':
      return told(entries.toReversed());
    case 'another amount':
      return told([{ ...first, amount: `9${first.amount}` }, ...entries.slice(1)]);
    case 'another currency':
      return told([{ ...first, currency: 'XTS' }, ...entries.slice(1)]);
    case 'unknown code':
      return told([{ ...first, [array.replace('_orders', '_status')]: '7' }, ...entries.slice(1)]);
    case 'refused, yet done':
      return answered(200, JSON.stringify({ ...truth, return_status: '0', [array]: [] }));
    case 'another account':
      return answered(200, JSON.stringify({ ...truth, account_id: 'NOBODY' }));
    default:
      return array === null ? answered(200, JSON.stringify(truth)) : told(entries);
  }
}

function unknown(reason) {
  return { kind: 'unknown', reason };
}

function answered(status, text) {
  const contentType = status === 200 && text.startsWith('{') ? JSON_TYPE : 'text/html';
  return { kind: 'answered', status, contentType, contentEncoding: null, body: Buffer.from(text) };
}
