// How a query names its orders. The document does not show it (Endpoints, note 4), so the profile
// says: by a list of order numbers, by a window of time in pages, or not at all. Pure.

import { QUERY_ORDERS_MAX } from '../document/messages.js';
import type { Profile } from '../document/profile.js';

export type QuerySelection =
  | { kind: 'orders'; orderNos: readonly string[] }
  /** `pageNo` counts from 0; what the gateway calls its first page is the profile's matter */
  | { kind: 'window'; from: Date; to: Date; pageNo: number }
  | { kind: 'all' }
  /** any that the gateway may want: how a person tries a profile out */
  | { kind: 'fields'; fields: Readonly<Record<string, string>> };

/** False: the number contains the separator of the list and would be read as two orders. */
export function canBeAsked(profile: Profile, orderNo: string): boolean {
  return orderNo !== '' && !orderNo.includes(profile.query.orderList.separator);
}

/** The fields of the request that name the orders. */
export function selectionFields(
  profile: Profile,
  selection: QuerySelection,
): Readonly<Record<string, string>> {
  const { orderList, window } = profile.query;
  switch (selection.kind) {
    case 'orders': {
      const { orderNos } = selection;
      if (orderNos.length === 0 || orderNos.length > QUERY_ORDERS_MAX) {
        throw new RangeError(`a query names 1 to ${QUERY_ORDERS_MAX} orders`);
      }
      if (!orderNos.every((orderNo) => canBeAsked(profile, orderNo))) {
        throw new RangeError('an order number contains the separator of the list');
      }
      return { [orderList.field]: orderNos.join(orderList.separator) };
    }
    case 'window':
      return {
        [window.from]: printedTime(selection.from, window.format, window.timezone),
        [window.to]: printedTime(selection.to, window.format, window.timezone),
        [window.page]: String(window.firstPage + selection.pageNo),
        [window.size]: String(QUERY_ORDERS_MAX),
      };
    case 'all':
      return {};
    case 'fields':
      return selection.fields;
  }
}

/** An instant in the profile's format (yyyy MM dd HH mm ss and marks between) and zone. */
export function printedTime(at: Date, format: string, timezone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(at);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  return format
    .replace('yyyy', part('year').padStart(4, '0'))
    .replace('MM', part('month'))
    .replace('dd', part('day'))
    .replace('HH', part('hour'))
    .replace('mm', part('minute'))
    .replace('ss', part('second'));
}
