// A caller of the sandbox for tests: signs as `profile: sandbox` says and posts over real HTTP.

import type { Operation } from '../../src/core/orders/order.js';
import { BATCH_SHAPES } from '../../src/gateway/document/messages.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { signatureOf } from '../../src/gateway/wire/sign.js';
import type { SandboxAccount } from '../../src/sandbox/desk.js';

export type Fields = Record<string, unknown>;

export type WireEntry = {
  transaction_id: string;
  order_no: string;
  currency: string;
  amount: string;
};

export interface BatchReply {
  return_status: string;
  return_message: string;
  encryption_data: string;
  results: Record<string, string>[];
}

const { signing } = sandboxProfile();

export function signed(account: SandboxAccount, operation: string, fields: Fields): Fields {
  const message = {
    merchant_id: account.merchantId,
    account_id: account.accountId,
    ...fields,
  };
  return {
    ...message,
    encryption_data: signatureOf(signing, operation, account.signingKey, message),
  };
}

export function postJson(url: string, message: unknown, contentType = 'application/json') {
  const headers = { 'content-type': contentType };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
}

export function query(
  baseUrl: string,
  account: SandboxAccount,
  orderNos: string[],
): Promise<Record<string, string>[]> {
  return ask(baseUrl, account, { order_no: orderNos.join(',') });
}

/** A query that names its orders by whatever fields are given. */
export async function ask(
  baseUrl: string,
  account: SandboxAccount,
  selection: Record<string, string>,
): Promise<Record<string, string>[]> {
  const fields = signed(account, 'retrievalTrans', selection);
  const body = new URLSearchParams(fields as Record<string, string>);
  const answer = await fetch(`${baseUrl}/v1/retrievalTrans`, { method: 'POST', body });
  const page = (await answer.json()) as Fields;
  if (page.return_status !== '1') throw new Error(String(page.return_message));
  return page.orders_list as Record<string, string>[];
}

export async function batch(
  baseUrl: string,
  account: SandboxAccount,
  operation: Operation,
  entries: Fields[],
): Promise<BatchReply> {
  const { path, array } = BATCH_SHAPES[operation];
  const message = signed(account, operation, { [array]: entries });
  const answer = (await (await postJson(`${baseUrl}${path}`, message)).json()) as Fields;
  return { ...(answer as unknown as BatchReply), results: answer[array] as BatchReply['results'] };
}

export async function effects(baseUrl: string): Promise<Record<string, string>[]> {
  const answer = await fetch(`${baseUrl}/_sandbox/effects`);
  return (await answer.json()) as Record<string, string>[];
}

/** Pays for an order; returns the entry that the batch operations name it by. */
export async function pay(
  baseUrl: string,
  account: SandboxAccount,
  orderNo: string,
  amount = '20.00',
  currency = 'EUR',
): Promise<WireEntry> {
  const answer = await postJson(
    `${baseUrl}/v1/authorise`,
    payment(account, { order_no: orderNo, amount, currency }),
  );
  const xml = await answer.text();
  const transaction = /<transaction_id>(\w+)<\/transaction_id>/.exec(xml)?.[1];
  if (transaction === undefined) throw new Error(`${answer.status} ${xml}`);
  return { transaction_id: transaction, order_no: orderNo, currency, amount };
}

export function payment(account: SandboxAccount, fields: Fields): Fields {
  const card = {
    card: '4111111111111111',
    expiration_month: '12',
    expiration_year: '2030',
    security_code: '123',
  };
  return signed(account, 'authorise', { ...card, ...fields });
}

/** The text of one element of an XML answer; undefined where it is absent. */
export function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}

export async function post(
  url: string,
  message: Fields,
): Promise<{ status: number; text: string }> {
  const answer = await postJson(url, message);
  return { status: answer.status, text: await answer.text() };
}
