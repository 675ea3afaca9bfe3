// What the acquirer settled in another currency beside what it settled wrong in the order's own: no
// sum adds the two, and nothing of what is at stake is missing where a break is shown
// (docs/CONTRACT.md section 9). Neighbour: leftOver.test.ts.

import { expect, it } from 'vitest';
import { findBreaks } from '../../src/breaks/breaksStore.js';
import { breakSentence, shownFields, sideText } from '../../src/core/breaks/sentence.js';
import type { Given, Line } from './facts.js';
import { breaks, checkIdentities, db, moved, ownFacts, settle, settled } from './facts.js';

ownFacts();

const captured = (amount: string, over: Partial<Given> = {}): Given => {
  return { order: '1', amount, ...over };
};
const refunded = (amount: string | null, over: Partial<Given> = {}): Given => {
  return { order: '1', kind: 'refunded', amount, ...over };
};
const paid = (amount: string, currency = 'EUR', over: Partial<Line> = {}): Line => {
  return { order: '1', amount, currency, ...over };
};
const back = (amount: string, currency = 'EUR', over: Partial<Line> = {}): Line => {
  return { order: '1', type: 'refunded', amount, currency, ...over };
};

/** All that the surfaces show of it: the list, what one person may waive, and the sentence. */
async function shown() {
  const page = { limit: 10, offset: 0 };
  const [found, ...more] = await findBreaks(db, { states: ['open'] }, page);
  if (found === undefined) throw new Error('no open break');
  expect(more).toEqual([]);
  const { rows } = await db.query<{ stake: string }>(
    `select tieout.waiver_stake(kind, currency, amount, expected, actual)::text as stake
     from tieout.breaks where state = 'open'`,
  );
  const { kind, expected, actual, currency, stake } = found;
  const sentence = breakSentence(kind, expected, actual).replaceAll(/\(batch [^)]*\)/g, '(batch)');
  const amount = shownFields(expected, actual).find(({ field }) => field === 'amount');
  return {
    ...{ kind, stake: `${stake} ${currency}`, waiver: rows[0]?.stake, sentence },
    ...{ there: sideText(actual), field: amount?.actual },
  };
}

const ASK = 'ask the acquirer for the difference';

it.each<[string, Given[], Line[], string, string, string]>([
  [
    'the capture in dollars, and the refund short of a euro',
    [captured('100.00'), refunded('20.00')],
    [paid('108.00', 'USD'), back('-19.00')],
    '101.00',
    '100.00 EUR was captured and 20.00 EUR refunded, and the acquirer settled 108.00 USD as ' +
      `captured and 19.00 EUR as refunded (batch): 101.00 EUR differs in all, ${ASK}`,
    '108.00 USD as captured and 19.00 EUR as refunded',
  ],
  [
    'a small capture in dollars, and a large refund that is mostly missing',
    [captured('10.00'), refunded('500.00')],
    [paid('10.80', 'USD'), back('-100.00')],
    '410.00',
    '10.00 EUR was captured and 500.00 EUR refunded, and the acquirer settled 10.80 USD as ' +
      `captured and 100.00 EUR as refunded (batch): 410.00 EUR differs in all, ${ASK}`,
    '10.80 USD as captured and 100.00 EUR as refunded',
  ],
  [
    'the refund in dollars, and the capture short',
    [captured('100.00'), refunded('20.00')],
    [paid('90.00'), back('-21.60', 'USD')],
    '30.00',
    '100.00 EUR was captured and 20.00 EUR refunded, and the acquirer settled 90.00 EUR as ' +
      `captured and 21.60 USD as refunded (batch): 30.00 EUR differs in all, ${ASK}`,
    '90.00 EUR as captured and 21.60 USD as refunded',
  ],
  [
    'one capture in parts of two currencies',
    [captured('100.00')],
    [paid('54.00', 'USD'), paid('50.00')],
    '100.00',
    '100.00 EUR was captured, and the acquirer settled 50.00 EUR and 54.00 USD (batch): ' +
      `100.00 EUR differs in all, ${ASK}`,
    '50.00 EUR and 54.00 USD',
  ],
  [
    'two captures in two other currencies',
    [captured('10.00'), captured('20.00', { transaction: 'T2' })],
    [
      paid('10.80', 'USD', { order: null, transaction: 'T1' }),
      paid('17.00', 'GBP', { order: null, transaction: 'T2' }),
    ],
    '30.00',
    '30.00 EUR was captured, and the acquirer settled 17.00 GBP and 10.80 USD (batch): ' +
      `30.00 EUR differs in all, ${ASK}`,
    '17.00 GBP and 10.80 USD',
  ],
])('%s', async (_name, movements, lines, stake, sentence, there) => {
  await moved(...movements);
  await settled(...lines);
  await settle();
  expect(await shown()).toEqual({
    ...{ kind: 'settlement_amount', stake: `${stake} EUR`, waiver: stake, sentence, there },
    field: there,
  });
  await settle();
  expect((await db.query('select event_id from tieout.break_events')).rows).toHaveLength(1);
  await checkIdentities();
});

it.each<[string, Given[], Line[], string, string, string]>([
  [
    'a capture in two lines of another currency is both of them',
    [captured('100.00')],
    [paid('54.00', 'USD'), paid('53.00', 'USD')],
    '100.00',
    `100.00 EUR was captured, and the acquirer settled 107.00 USD (batch): ${ASK}`,
    '107.00 USD',
  ],
  [
    'both in dollars are one sum of dollars',
    [captured('100.00'), refunded('20.00')],
    [paid('108.00', 'USD'), back('-21.60', 'USD')],
    '120.00',
    `120.00 EUR was captured and refunded, and the acquirer settled 129.60 USD (batch): ${ASK}`,
    '129.60 USD',
  ],
  [
    'too little of the capture and too much of the refund make up for nothing',
    [captured('100.00'), refunded('20.00')],
    [paid('90.00'), back('-30.00')],
    '20.00',
    '100.00 EUR was captured and 20.00 EUR refunded, and the acquirer settled 90.00 EUR as ' +
      `captured and 30.00 EUR as refunded (batch): 20.00 EUR differs in all, ${ASK}`,
    '120.00 EUR',
  ],
])('%s', async (_name, movements, lines, stake, sentence, there) => {
  await moved(...movements);
  await settled(...lines);
  await settle();
  const found = await shown();
  expect(found).toMatchObject({ stake: `${stake} EUR`, waiver: stake, sentence, there });
  await checkIdentities();
});

it('what comes to it later is at stake as well, whatever it opened with', async () => {
  await moved(captured('10.00'), refunded('500.00'));
  await settled(paid('10.80', 'USD'));
  await settle();
  expect(await shown()).toMatchObject({ stake: '10.00 EUR', waiver: '10.00' });
  await settled(back('-100.00'));
  await settle();
  expect(await breaks()).toEqual(['1 settlement_amount 10.00 EUR']);
  expect(await shown()).toMatchObject({ stake: '410.00 EUR', waiver: '410.00' });
  await checkIdentities();
});

it('a refund of an unknown amount in dollars beside a capture that is short', async () => {
  await moved(captured('100.00'), refunded(null));
  await settled(paid('90.00'), back('-3.00', 'USD'));
  await settle();
  expect(await shown()).toMatchObject({
    ...{ stake: '10.00 EUR', waiver: '10.00' },
    sentence:
      '100.00 EUR was captured and an unknown amount of EUR refunded, and the acquirer settled ' +
      `90.00 EUR as captured and 3.00 USD as refunded (batch): 10.00 EUR differs in all, ${ASK}`,
  });
});

it('names each batch once, and is the break that it was where no sum hides anything', async () => {
  const [one, other] = [{ reference: 'R1' }, { reference: 'R2' }];
  await moved(captured('100.00'), refunded('20.00', one), refunded('30.00', other));
  await settled(paid('99.99'), back('-19.99', 'EUR', one));
  const last = await settled(back('-29.99', 'EUR', other));
  await settle();
  const { rows } = await db.query<{ actual: { batch: string } }>(
    'select actual from tieout.breaks where state = $1',
    ['open'],
  );
  const named = rows[0]?.actual.batch.split(', ') ?? [];
  expect([named.length, named.at(-1)]).toEqual([2, last]);
});
