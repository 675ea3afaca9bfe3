// What the book of movements has to hold, as cases: what the gateway shows of one order of 100.00
// from night to night, what we did to it, and what stands in the book after each night. Worked out
// by hand; they run through the rule alone and through the database alike.

/** What one night sees and knows of the order. */
export interface MovementNight {
  /** `state amount`, with a currency where it is not EUR; absent: the gateway does not show it */
  shown?: string;
  /** ours, confirmed since the night before: `capture 100` or `refund 10` */
  ours?: readonly string[];
  /** of ours: it may have had an effect, and nobody knows */
  unknown?: 'capture' | 'refund' | 'cancel';
  /** requests that count as done by the merchant's word, in sum */
  requested?: string;
  /** told twice, in two ways */
  torn?: true;
  /** kind made amount, in order of booking; `?` is suspense; what was taken back is 0 */
  want: string;
}

export interface MovementCase {
  name: string;
  nights: readonly MovementNight[];
}

const CAPTURE = 'captured elsewhere 100';

export const movementCases: readonly MovementCase[] = [
  {
    name: 'reserved, then captured elsewhere',
    nights: [
      { shown: 'authorised 100', want: '' },
      { shown: 'captured 100', want: CAPTURE },
      { shown: 'captured 100', want: CAPTURE },
    ],
  },
  {
    name: 'captured by us',
    nights: [
      { ours: ['capture 100'], shown: 'captured 100', want: 'captured here 100' },
      { shown: 'captured 100', want: 'captured here 100' },
    ],
  },
  {
    name: 'a part captured by us, the gateway shows the whole',
    nights: [{ ours: ['capture 60'], shown: 'captured 100', want: 'captured here 60' }],
  },
  {
    name: 'a part captured by us and refunded elsewhere in full',
    nights: [
      { ours: ['capture 60'], shown: 'captured 60', want: 'captured here 60' },
      { shown: 'refunded 100', want: 'captured here 60, refunded elsewhere 60' },
    ],
  },
  { name: 'first seen captured', nights: [{ shown: 'captured 100', want: CAPTURE }] },
  {
    name: 'first seen refunded',
    nights: [{ shown: 'refunded 100', want: `${CAPTURE}, refunded elsewhere 100` }],
  },
  {
    name: 'first seen partially refunded: the amount is in suspense until a later look tells it',
    nights: [
      { shown: 'partially_refunded 100', want: `${CAPTURE}, refunded elsewhere ?` },
      { shown: 'partially_refunded 100', want: `${CAPTURE}, refunded elsewhere ?` },
      { shown: 'refunded 100', want: `${CAPTURE}, refunded elsewhere 100` },
      { shown: 'refunded 100', want: `${CAPTURE}, refunded elsewhere 100` },
    ],
  },
  {
    name: 'first seen partially refunded, and requests that count as done explain it',
    nights: [
      {
        shown: 'partially_refunded 100',
        requested: '30',
        want: `${CAPTURE}, refunded elsewhere 30`,
      },
      {
        shown: 'partially_refunded 100',
        requested: '30',
        want: `${CAPTURE}, refunded elsewhere 30`,
      },
      { shown: 'refunded 100', want: `${CAPTURE}, refunded elsewhere 30, refunded elsewhere 70` },
    ],
  },
  {
    name: 'a request that counts as done comes later',
    nights: [
      { shown: 'partially_refunded 100', want: `${CAPTURE}, refunded elsewhere ?` },
      {
        shown: 'partially_refunded 100',
        requested: '30',
        want: `${CAPTURE}, refunded elsewhere 30`,
      },
    ],
  },
  {
    name: 'requests of more than was captured tell nothing',
    nights: [
      {
        shown: 'partially_refunded 100',
        requested: '130',
        want: `${CAPTURE}, refunded elsewhere ?`,
      },
    ],
  },
  {
    name: 'captured elsewhere and refunded by us between two looks',
    nights: [
      { shown: 'authorised 100', want: '' },
      {
        ours: ['refund 100'],
        shown: 'refunded 100',
        want: 'refunded here 100, captured elsewhere 100',
      },
    ],
  },
  {
    name: 'captured elsewhere, a part refunded by us',
    nights: [
      { shown: 'captured 100', want: CAPTURE },
      {
        ours: ['refund 10'],
        shown: 'partially_refunded 100',
        want: `${CAPTURE}, refunded here 10`,
      },
      { shown: 'partially_refunded 100', want: `${CAPTURE}, refunded here 10` },
    ],
  },
  {
    name: 'a part refunded by us, the rest elsewhere',
    nights: [
      { ours: ['capture 100'], shown: 'captured 100', want: 'captured here 100' },
      {
        ours: ['refund 10'],
        shown: 'partially_refunded 100',
        want: 'captured here 100, refunded here 10',
      },
      {
        shown: 'refunded 100',
        want: 'captured here 100, refunded here 10, refunded elsewhere 90',
      },
    ],
  },
  {
    name: 'two refunds by us make it up',
    nights: [
      { ours: ['capture 100'], shown: 'captured 100', want: 'captured here 100' },
      {
        ours: ['refund 40', 'refund 60'],
        shown: 'refunded 100',
        want: 'captured here 100, refunded here 40, refunded here 60',
      },
    ],
  },
  {
    name: 'captured elsewhere with another amount',
    nights: [
      { shown: 'authorised 100', want: '' },
      { shown: 'captured 60', want: 'captured elsewhere 60' },
      { shown: 'refunded 60', want: 'captured elsewhere 60, refunded elsewhere 60' },
    ],
  },
  {
    name: 'shown, then not shown, then shown again',
    nights: [
      { shown: 'captured 100', want: CAPTURE },
      { want: CAPTURE },
      { shown: 'captured 100', want: CAPTURE },
    ],
  },
  {
    name: 'a wrong amount, shown once',
    nights: [
      { shown: 'captured 900', want: 'captured elsewhere 900' },
      { shown: 'captured 100', want: CAPTURE },
      { shown: 'captured 100', want: CAPTURE },
    ],
  },
  {
    name: 'a wrong currency, shown once',
    nights: [
      { shown: 'captured 100 USD', want: 'captured elsewhere 100 USD' },
      { shown: 'captured 100', want: 'captured elsewhere 0 USD, captured elsewhere 100' },
      { shown: 'captured 100', want: 'captured elsewhere 0 USD, captured elsewhere 100' },
    ],
  },
  {
    name: 'captured by mistake, then reserved, then captured',
    nights: [
      { shown: 'captured 100', want: CAPTURE },
      { shown: 'authorised 100', want: 'captured elsewhere 0' },
      { shown: 'authorised 100', want: 'captured elsewhere 0' },
      { shown: 'captured 80', want: 'captured elsewhere 80' },
    ],
  },
  {
    name: 'captured, then cancelled at the gateway on the same day',
    nights: [
      { shown: 'captured 100', want: CAPTURE },
      { shown: 'cancelled 100', want: 'captured elsewhere 0' },
    ],
  },
  {
    name: 'refunded by mistake, then captured, then refunded',
    nights: [
      { shown: 'refunded 100', want: `${CAPTURE}, refunded elsewhere 100` },
      { shown: 'captured 100', want: `${CAPTURE}, refunded elsewhere 0` },
      { shown: 'refunded 100', want: `${CAPTURE}, refunded elsewhere 100` },
    ],
  },
  {
    name: 'refunded by mistake, then in part: nobody knows how much',
    nights: [
      { shown: 'refunded 100', want: `${CAPTURE}, refunded elsewhere 100` },
      { shown: 'partially_refunded 100', want: `${CAPTURE}, refunded elsewhere ?` },
    ],
  },
  {
    name: 'refunded by mistake, then in part, which ours explain',
    nights: [
      {
        ours: ['refund 20'],
        shown: 'partially_refunded 100',
        want: 'refunded here 20, captured elsewhere 100',
      },
      {
        shown: 'refunded 100',
        want: 'refunded here 20, captured elsewhere 100, refunded elsewhere 80',
      },
      {
        shown: 'partially_refunded 100',
        want: 'refunded here 20, captured elsewhere 100, refunded elsewhere 0',
      },
    ],
  },
  {
    name: 'a refunded amount that was too high',
    nights: [
      { shown: 'refunded 900', want: 'captured elsewhere 900, refunded elsewhere 900' },
      { shown: 'refunded 100', want: `${CAPTURE}, refunded elsewhere 100` },
    ],
  },
  {
    name: 'what we captured stays, whatever is shown',
    nights: [
      { ours: ['capture 100'], shown: 'captured 100', want: 'captured here 100' },
      { shown: 'authorised 100', want: 'captured here 100' },
      { shown: 'captured 100 USD', want: 'captured here 100' },
      { shown: 'captured 90', want: 'captured here 100' },
    ],
  },
  {
    name: 'an unknown capture waits, and is ours in the end',
    nights: [
      { shown: 'captured 100', unknown: 'capture', want: '' },
      { shown: 'captured 100', ours: ['capture 100'], want: 'captured here 100' },
    ],
  },
  {
    name: 'an unknown capture waits, and was made elsewhere',
    nights: [
      { shown: 'captured 100', unknown: 'capture', want: '' },
      { shown: 'captured 100', want: CAPTURE },
    ],
  },
  {
    name: 'taken for made elsewhere, and ours all the same',
    nights: [
      { shown: 'captured 100', want: CAPTURE },
      {
        shown: 'captured 100',
        ours: ['capture 100'],
        want: 'captured elsewhere 0, captured here 100',
      },
    ],
  },
  {
    name: 'an unknown refund waits',
    nights: [
      { shown: 'captured 100', want: CAPTURE },
      { shown: 'refunded 100', unknown: 'refund', want: CAPTURE },
      { shown: 'refunded 100', ours: ['refund 100'], want: `${CAPTURE}, refunded here 100` },
    ],
  },
  {
    name: 'a capture made elsewhere is booked, whatever became of our refund of it',
    nights: [
      { shown: 'captured 100', unknown: 'refund', want: CAPTURE },
      { shown: 'partially_refunded 100', unknown: 'refund', want: CAPTURE },
      { shown: 'refunded 100', ours: ['refund 100'], want: `${CAPTURE}, refunded here 100` },
    ],
  },
  {
    name: 'a capture made elsewhere is first shown when it may be refunded by us',
    nights: [
      { shown: 'partially_refunded 100', unknown: 'refund', want: CAPTURE },
      { shown: 'partially_refunded 100', want: `${CAPTURE}, refunded elsewhere ?` },
    ],
  },
  {
    name: 'what an unknown refund may mean for its capture is not taken from an odd look',
    nights: [
      { shown: 'captured 100', want: CAPTURE },
      { shown: 'authorised 100', unknown: 'refund', want: CAPTURE },
      { shown: 'authorised 100', want: 'captured elsewhere 0' },
    ],
  },
  {
    name: 'a cancellation has captured nothing',
    nights: [{ shown: 'captured 100', unknown: 'cancel', want: CAPTURE }],
  },
  {
    name: 'told in two ways: nothing is booked',
    nights: [
      { shown: 'captured 100', torn: true, want: '' },
      { shown: 'captured 100', want: CAPTURE },
    ],
  },
  { name: 'declined', nights: [{ shown: 'declined 100', want: '' }] },
];
