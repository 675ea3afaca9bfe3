// A query to the gateway in as few lines as it takes: the sandbox's signature and form, written
// here a second time on purpose, since the prototype must owe nothing to the program.

import { createHash } from 'node:crypto';
import { Pool } from 'undici';

export const CONCURRENCY = 8;
export const PAGE_ORDERS = 100;

export function openPool(baseUrl) {
  return new Pool(baseUrl, { connections: CONCURRENCY });
}

/** The bytes of the answer to a query of at most a hundred orders of one account. */
export async function ask(pool, account, orderNos) {
  const { merchantId, accountId, signingKey } = account;
  const sign = createHash('sha256').update(merchantId + accountId + signingKey);
  const body = new URLSearchParams({
    merchant_id: merchantId,
    account_id: accountId,
    order_no: orderNos.join(','),
    encryption_data: sign.digest('hex'),
  });
  const answer = await pool.request({
    method: 'POST',
    path: '/v1/retrievalTrans',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
  });
  return Buffer.from(await answer.body.arrayBuffer());
}

/** Orders of one account after another, cut into pages. */
export function* pagesOf(rows) {
  let page = [];
  for (const row of rows) {
    const isFull = page.length === PAGE_ORDERS || page[0]?.account_id !== row.account_id;
    if (page.length > 0 && isFull) {
      yield page;
      page = [];
    }
    page.push(row);
  }
  if (page.length > 0) yield page;
}

/** Works on items, as many at once as there are connections. */
export async function inTurn(items, work) {
  const queue = items[Symbol.iterator]();
  const take = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, take));
}

/** From now on the sandbox does this to the requests that the rule is for. */
export async function addFault(baseUrl, rule) {
  const answer = await fetch(`${baseUrl}/_sandbox/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(rule),
  });
  if (!answer.ok) throw new Error(`the sandbox takes no faults: ${await answer.text()}`);
}

/** The rules with how many requests each has seen and changed. */
export async function faultsOf(baseUrl) {
  return (await fetch(`${baseUrl}/_sandbox/faults`)).json();
}
