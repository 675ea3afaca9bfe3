// Which changes of the gateway's answers are told: nights as they come, and what each one says.

import { describe, expect, it } from 'vitest';
import { foldAnswers } from '../../src/core/drift/answerFields.js';
import type { DriftMemory } from '../../src/core/drift/drift.js';
import { driftOf, NO_MEMORY } from '../../src/core/drift/drift.js';
import { driftNotice } from '../../src/core/drift/driftWords.js';

type Json = Record<string, unknown>;

/** A page of entries; `change` makes the entry at a place. */
const page = (entries: number, change: (entry: Json, place: number) => Json = (one) => one) => ({
  return_status: '1',
  orders_list: Array.from({ length: entries }, (_, place) =>
    change({ order_no: `SO-${place}`, amount: '10.00', is3ds: '0' }, place),
  ),
});

const folded = (answers: readonly unknown[]) => {
  const { add, come } = foldAnswers();
  for (const answer of answers) add(answer);
  return come();
};

/** What each night says, as `change path`. */
function told(nights: readonly (readonly unknown[])[]): string[][] {
  let memory: DriftMemory = NO_MEMORY;
  return nights.map((answers) => {
    const night = driftOf(memory, folded(answers));
    ({ memory } = night);
    return night.changes.map(({ change, path }) => `${change} ${path}`);
  });
}

const without = (name: string) => (entry: Json) => {
  const { [name]: _, ...rest } = entry;
  return rest;
};
const plain = [page(30)];
const gone = [page(30, without('is3ds'))];
const some = (extra: Json) => [
  page(30, (one, place) => (place === 7 ? { ...one, ...extra } : one)),
];

it.each([
  ['a NUL', 'S\0X'],
  ['half a character', 'S\ud800X'],
  ['a line break', 'S\nX'],
  ['600 bytes', 'x'.repeat(600)],
])('an order number with %s is no example', (_, order_no) => {
  const { memory } = driftOf(NO_MEMORY, folded(plain));
  const { changes } = driftOf(memory, folded(some({ order_no, amount: 5 })));
  expect(changes.map(({ samples }) => samples)).toEqual([[{ orderNo: null, shape: '9' }]]);
});

describe('what a night tells of fields', () => {
  it.each<[string, (readonly unknown[])[], string[][]]>([
    ['nothing of the first night, and of the same again', [plain, plain], [[], []]],
    [
      'one that was always there and is in none, once',
      [plain, gone, gone],
      [[], ['vanished orders_list[].is3ds'], []],
    ],
    [
      'one that comes back, once; then it is optional',
      [plain, gone, plain, gone, plain],
      [[], ['vanished orders_list[].is3ds'], ['returned orders_list[].is3ds'], [], []],
    ],
    [
      'one that nobody has seen, were it in one entry only, once',
      [plain, some({ arn: 'x' }), plain, some({ arn: 'y' })],
      [[], ['appeared orders_list[].arn'], [], []],
    ],
    [
      'of a new object and all in it the object alone',
      [plain, some({ card: { brand: 'v', bank: { name: 'n' } } })],
      [[], ['appeared orders_list[].card']],
    ],
    [
      'another type, once, and not when it is the old one again',
      [plain, some({ amount: 10 }), plain, some({ amount: 10 })],
      [[], ['type orders_list[].amount'], [], []],
    ],
    [
      'null where there was text',
      [plain, some({ is3ds: null })],
      [[], ['type orders_list[].is3ds']],
    ],
    ['not one that is there now and then', [some({ arn: 'x' }), plain, plain], [[], [], []]],
    [
      'not one of an object that few entries have',
      [some({ sub: { id: '1' } }), some({ sub: {} }), some({ sub: { id: '1' } })],
      [[], [], []],
    ],
    [
      'of an object that is gone the object alone',
      [[page(30, (one) => ({ ...one, sub: { id: '1' } }))], plain],
      [[], ['vanished orders_list[].sub']],
    ],
    [
      'one beside the entries',
      [plain, [without('return_status')(page(30))]],
      [[], ['vanished return_status']],
    ],
    [
      'only when enough nights of few entries came together',
      [[page(12)], [page(12)], [page(9, without('is3ds'))], [page(11, without('is3ds'))], plain],
      [[], [], [], ['vanished orders_list[].is3ds'], ['returned orders_list[].is3ds']],
    ],
    ['nothing of a night without answers', [plain, [], plain], [[], [], []]],
    [
      'names that a program may trip over',
      [plain, [JSON.parse('{"__proto__":1,"toString":2,"constructor":{"a":1}}')]],
      [[], ['appeared __proto__', 'appeared toString', 'appeared constructor']],
    ],
  ])('%s', (_, nights, expected) => expect(told(nights)).toEqual(expected));

  it('holds whatever comes, and takes names that are values for no change', () => {
    const values = (from: number) => [
      page(30, (one, place) => ({ ...one, map: { [`k${from + place}`]: 1 } })),
      { many: Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`n${from + at}`, 1])) },
    ];
    const { fields, isCut } = folded(values(0));
    expect({ fields: fields.size, isCut }).toEqual({ fields: 400, isCut: true });
    // So deep, and no deeper.
    let deep: unknown = 1;
    for (let depth = 0; depth < 5_000; depth += 1) deep = { a: deep };
    expect(folded([deep]).fields.size).toBe(9);
    const nights = told([0, 100_000, 200_000, 300_000].map(values));
    expect(nights.every((changes) => changes.length <= 50)).toBe(true);
    expect(nights.flat().filter((change) => change.startsWith('vanished'))).toEqual([]);
  });
});

it('says what it saw without saying a value', () => {
  const { memory } = driftOf(NO_MEMORY, folded(plain));
  const night = [
    page(30, (one, place) => ({ ...without('is3ds')(one), ...(place ? {} : { amount: 1250.5 }) })),
    { shopper: 'Zoë Łęcka <zoe@mail.example>', card: '4111111111111111' },
  ];
  const { changes } = driftOf(memory, folded(night));
  const notice = driftNotice({ accountId: 'A1', answer: 'query', changes });
  expect(notice.text).toBe(
    'the acquirer has changed what it answers to a query: orders_list[].amount was text and is ' +
      'now also number, such as 9999.9 of SO-0; shopper is new (text), in 1 of 31, such as ' +
      '"Aaa Aaaaa <aaa@aaaa.aaaaaaa>"; card is new (text), in 1 of 31, such as ' +
      '"9999999999999999"; orders_list[].is3ds was always there (text) and is in none of 30. ' +
      'Ask what it means before money is decided on it; it is told once',
  );
  expect(notice).toMatchObject({ kind: 'answer_changed', names: ['SO-0'] });
});
