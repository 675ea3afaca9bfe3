// Prints what the sandbox holds as entries of a query answer, field by field as the document lists
// them (Query request and response), about 700 bytes each. It is the hot path of a large night:
// only texts that came from outside are escaped, everything else is known to need no escape.

import type { Profile } from '../gateway/profile.js';
import type { SandboxOrder, SandboxTransaction } from './order.js';
import { shopperOf } from './people.js';
import { printedDay } from './printedDay.js';

/** A payment_status that the sandbox's profile gives no meaning. */
export const ODD_STATUS = '7777';

const DAY_MS = 86_400_000;

/** What a profile decides about entries, looked up once. */
export interface EntryPrinter {
  readonly codes: ReadonlyMap<string, string>;
  readonly found: string;
  readonly siteField: string;
}

export function entryPrinter(profile: Profile): EntryPrinter {
  const codes = new Map<string, string>();
  for (const [code, state] of Object.entries(profile.statuses.payment)) {
    if (!codes.has(state)) codes.set(state, code);
  }
  const found = profile.query.found[0] ?? '1';
  return { codes, found, siteField: JSON.stringify(profile.siteField) };
}

/** One text an entry: an order that was paid in several attempts has several. */
export function printOrder(printer: EntryPrinter, order: SandboxOrder): string[] {
  const who = shopperOf(order.orderNo);
  const head =
    `"delivery_information":{"delivery_address":"${who.street}","delivery_city":"${who.city}",` +
    `"delivery_country":"${who.country}","delivery_firstname":"${who.firstName}",` +
    `"delivery_lastname":"${who.lastName}","delivery_postal_code":"${who.postalCode}",` +
    `"delivery_state":"${who.state}"},"antifraud_provider":"sandbox"`;
  const shopper = `"shopper_email":"${who.email}","shopper_phone":"${who.phone}"`;
  const orderNo = JSON.stringify(order.orderNo);
  return order.transactions.map((one) => printOne(printer, orderNo, head, shopper, one));
}

/** `YYYYMMDDhhmmss` in UTC, by arithmetic: a page prints a hundred of them. */
export function printedDate(at: number): string {
  const day = Math.floor(at / DAY_MS);
  const seconds = Math.floor((at - day * DAY_MS) / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${printedDay(day)}${twoDigits(hours)}${twoDigits(minutes)}${twoDigits(seconds % 60)}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

function printOne(
  printer: EntryPrinter,
  orderNo: string,
  head: string,
  shopper: string,
  one: SandboxTransaction,
): string {
  const status = one.state === 'odd' ? ODD_STATUS : (printer.codes.get(one.state) ?? ODD_STATUS);
  const check = one.state === 'in_review' ? 'REJECT' : 'ACCEPT';
  return (
    `{"amount":"${one.amount}","currency":"${one.currency}",${head},` +
    `"fraud_check_result":[{"check_items":"address","status":"ACCEPT"},` +
    `{"check_items":"velocity","status":"${check}"}],"is3ds":"0","order_no":${orderNo},` +
    `"payment_status":"${status}","query_result":"${printer.found}",` +
    `"reference_no":"R${one.transactionId}",${shopper},` +
    `"subscription_result":{"contract_name":"","recurring_deduction_period":"",` +
    `"recurring_deduction_time":"","recurring_id":"","recurring_status":""},` +
    `"transaction_date":"${printedDate(one.at)}","transaction_id":"${one.transactionId}",` +
    `${printer.siteField}:"https://shop.example"}`
  );
}
