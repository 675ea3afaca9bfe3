// Prints what the sandbox holds as entries of a query answer, field by field as the document lists
// them (Query request and response). It is the hot path of a large night, so seeded orders are
// joined from ready pieces, as texts of one character a byte (UTF-8): such a text is kept and sent
// as it is, where one with wide characters would be encoded again for every page.

import { GATEWAY_STATES } from '../../core/orders/order.js';
import { DAY_MS, minutesAhead } from '../../core/time.js';
import type { Profile } from '../../gateway/document/profile.js';
import type { PaymentDetails, SandboxOrder, SandboxTransaction } from '../book/order.js';
import {
  asBytes,
  printedContact,
  printedDelivery,
  type Shopper,
  shopperOf,
} from '../seed/people.js';
import { hashText } from '../seed/random.js';
import { recurringCode } from './codes.js';
import { printedDay } from './printedDay.js';
import { deductionOf, recurringId } from './subscriptions.js';

/** A payment_status that the sandbox's profile gives no meaning. */
const ODD_STATUS = '7777';

/** Fields of a payment that a query shows again, by their names in both messages. */
export const SHOWN_FIELDS = [
  'delivery_address',
  'delivery_city',
  'delivery_country',
  'delivery_firstname',
  'delivery_lastname',
  'delivery_postal_code',
  'delivery_state',
  'shopper_email',
  'shopper_phone',
] as const;

const SITE = 'https://shop.example';
const ISO_DATE_LENGTH = 10;
const MINUTE_MS = 60_000;

const ADDRESS_CHECK = '{"check_items":"address","status":"ACCEPT"},';
const NO_SUBSCRIPTION =
  '","subscription_result":{"contract_name":"","recurring_deduction_period":"",' +
  '"recurring_deduction_time":"","recurring_id":"","recurring_status":""},"transaction_date":"';

/** What a profile decides about entries, and the pieces of a seeded one between what changes. */
export interface EntryPrinter {
  readonly codes: ReadonlyMap<string, string>;
  readonly found: string;
  readonly siteField: string;
  readonly recurring: Readonly<Record<'active' | 'ended', string>>;
  /** transaction_date of a moment, in the profile's zone. */
  readonly dateOf: (at: number) => string;
  /** From delivery_information to the order number. */
  readonly checks: Readonly<Record<'accepted' | 'rejected', string>>;
  /** From the order number to the reference, by state. */
  readonly states: ReadonlyMap<string, string>;
  /** From the transaction id to the end. */
  readonly tail: string;
}

export function entryPrinter(profile: Profile): EntryPrinter {
  const { siteField, statuses, query } = profile;
  const { timezone } = profile.transactionDate;
  const codes = new Map<string, string>([['odd', ODD_STATUS]]);
  for (const [code, state] of Object.entries(statuses.payment)) {
    if (!codes.has(state)) codes.set(state, code);
  }
  const found = query.found[0] ?? '1';
  const states = [...GATEWAY_STATES, 'odd'].map((state): [string, string] => {
    const status = JSON.stringify(codes.get(state) ?? ODD_STATUS);
    const result = JSON.stringify(found);
    return [state, `","payment_status":${status},"query_result":${result},"reference_no":"R`];
  });
  return {
    codes,
    found,
    siteField,
    recurring: { active: recurringCode(profile, false), ended: recurringCode(profile, true) },
    dateOf:
      timezone === 'UTC'
        ? printedDate
        : (at) => printedDate(at + minutesAhead(timezone, at) * MINUTE_MS),
    checks: { accepted: checksPiece('ACCEPT'), rejected: checksPiece('REJECT') },
    states: new Map(states.map(([state, piece]) => [state, asBytes(piece)])),
    tail: asBytes(`",${JSON.stringify(siteField)}:"${SITE}"}`),
  };
}

function checksPiece(velocity: 'ACCEPT' | 'REJECT'): string {
  return (
    `,"antifraud_provider":"sandbox","fraud_check_result":[${ADDRESS_CHECK}` +
    `{"check_items":"velocity","status":"${velocity}"}],"is3ds":"0","order_no":"`
  );
}

/** Adds one text an entry: an order that was paid in several attempts has several. */
export function printOrder(printer: EntryPrinter, order: SandboxOrder, entries: string[]): void {
  for (const one of order.transactions) {
    entries.push(
      one.details === undefined
        ? printSeeded(printer, order.orderNo, one)
        : printPaid(printer, order.orderNo, one, one.details),
    );
  }
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

/**
 * Seeded texts need no escape: order number and ids follow from positions, names are ours. Few long
 * pieces: joining a page costs by the piece (half the time at 20 of them instead of 40).
 */
function printSeeded(printer: EntryPrinter, orderNo: string, one: SandboxTransaction): string {
  const bits = hashText(orderNo);
  const { checks, states, tail } = printer;
  return (
    `{"amount":"${one.amount}","currency":"${one.currency}","delivery_information":{` +
    `${printedDelivery(bits)}${one.state === 'in_review' ? checks.rejected : checks.accepted}` +
    `${orderNo}${states.get(one.state)}${one.transactionId}","shopper_email":"shopper` +
    `${printedContact(bits)}${NO_SUBSCRIPTION}${printer.dateOf(one.at)}","transaction_id":"` +
    `${one.transactionId}${tail}`
  );
}

/** An entry of a payment that came over the wire: what it brought along is shown again. */
function printPaid(
  printer: EntryPrinter,
  orderNo: string,
  one: SandboxTransaction,
  { shown, subscription }: PaymentDetails,
): string {
  const invented = inventedFields(shopperOf(orderNo));
  const field = (name: (typeof SHOWN_FIELDS)[number]): string => shown[name] ?? invented[name];
  const delivery = SHOWN_FIELDS.filter((name) => name.startsWith('delivery_'));
  const check = one.state === 'in_review' ? 'REJECT' : 'ACCEPT';
  const entry = {
    amount: one.amount,
    currency: one.currency,
    delivery_information: Object.fromEntries(delivery.map((name) => [name, field(name)])),
    antifraud_provider: 'sandbox',
    fraud_check_result: [
      { check_items: 'address', status: 'ACCEPT' },
      { check_items: 'velocity', status: check },
    ],
    is3ds: '0',
    order_no: orderNo,
    payment_status: printer.codes.get(one.state) ?? ODD_STATUS,
    query_result: printer.found,
    reference_no: `R${one.transactionId}`,
    shopper_email: field('shopper_email'),
    shopper_phone: field('shopper_phone'),
    subscription_result: {
      contract_name: subscription?.contractName ?? '',
      recurring_deduction_period: subscription?.period ?? '',
      recurring_deduction_time: subscription
        ? deductionOf(subscription).slice(0, ISO_DATE_LENGTH)
        : '',
      recurring_id: subscription ? recurringId(one.transactionId) : '',
      recurring_status: subscription
        ? printer.recurring[subscription.isEnded === true ? 'ended' : 'active']
        : '',
    },
    transaction_date: printer.dateOf(one.at),
    transaction_id: one.transactionId,
    [printer.siteField]: shown[printer.siteField] ?? SITE,
  };
  return asBytes(JSON.stringify(entry));
}

function inventedFields(who: Shopper): Record<(typeof SHOWN_FIELDS)[number], string> {
  return {
    delivery_address: who.street,
    delivery_city: who.city,
    delivery_country: who.country,
    delivery_firstname: who.firstName,
    delivery_lastname: who.lastName,
    delivery_postal_code: who.postalCode,
    delivery_state: who.state,
    shopper_email: who.email,
    shopper_phone: who.phone,
  };
}
