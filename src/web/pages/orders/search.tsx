// The search that leads to an order: by its number or a part of it, by a transaction, a refund, or
// what the gateway calls the refund, in any case of letters.

import { orderPath } from '../../../core/text/orderPath.js';
import type { FoundBy, FoundOrder } from '../../../orders/historyStore.js';
import { findOrders } from '../../../orders/historyStore.js';
import { Empty, OrderLink } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';

const FOUND_MAX = 50;

const FOUND_WORDS: Readonly<Record<FoundBy, string>> = {
  order: 'has this number',
  part: 'has it in its number',
  transaction: 'has a transaction of this number',
  refund: 'has a refund of this number',
  refund_reference: 'has a refund that the gateway calls so',
  gateway_reference: 'has a refund that the gateway gave this reference',
  shown: 'has it at the gateway, or in a break',
};

export async function searchPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query } = visit;
  const number = query.text('q', 128);
  // One more than is shown tells whether there are more.
  const { orders: found, isCut } =
    number === null
      ? { orders: [], isCut: false }
      : await findOrders(deps.db, accounts, number, FOUND_MAX + 1);
  const [only] = found;
  if (only !== undefined && found.length === 1 && only.by !== 'part') {
    return { kind: 'redirect', to: orderPath(only.accountId, only.orderNo) };
  }
  const body = (
    <>
      <h1>Search</h1>
      {number === null || found.length === 0 ? (
        <NoneFound number={number} isCut={isCut} />
      ) : (
        <Found all={found} />
      )}
      {number === null || found.length === 0 ? null : (
        <p class="hint">
          <a href={breaksWith(number)}>Breaks with it</a>, in whatever words.
        </p>
      )}
    </>
  );
  return { kind: 'page', title: 'Search', section: '', body };
}

function NoneFound({ number, isCut }: { number: string | null; isCut: boolean }) {
  return (
    <Empty>
      {isCut
        ? 'Nothing has exactly this number. There are too many orders to look for a part of it, ' +
          'or for a transaction that only the gateway knows: type the whole number of the order. '
        : 'No order has this number or a part of it, and no transaction or refund has the whole ' +
          'of it, in the ledger, in an instruction, or in what the gateway showed in the last ' +
          'nights. '}
      Look for it in the words of the <a href={breaksWith(number)}>breaks</a>, or check the account
      with whoever gave you the number.
    </Empty>
  );
}

function Found({ all }: { all: readonly FoundOrder[] }) {
  return (
    <>
      <ul>
        {all.slice(0, FOUND_MAX).map(({ accountId, orderNo, by }) => (
          <li>
            <OrderLink accountId={accountId} orderNo={orderNo} /> of account {accountId}{' '}
            <span class="hint">{FOUND_WORDS[by]}</span>
          </li>
        ))}
      </ul>
      {all.length > FOUND_MAX ? (
        <p>There are more than these {FOUND_MAX}: type more of the number.</p>
      ) : null}
    </>
  );
}

function breaksWith(number: string | null): string {
  return `/breaks?${new URLSearchParams({ state: 'any', text: number ?? '' })}`;
}
