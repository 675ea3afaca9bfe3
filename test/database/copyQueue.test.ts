// Texts that are put while a COPY takes them: in their order, few at a time, and whoever puts them
// goes on when nobody takes them any more.

import { expect, it } from 'vitest';
import { CopyQueue } from '../../src/database/copy/copyQueue.js';
import { freshDatabase } from '../support/database.js';

it('gives what was put in its order, also what was put before the end', async () => {
  const queue = new CopyQueue();
  const taken: string[] = [];
  const taking = (async () => {
    for await (const text of queue) taken.push(text);
  })();
  for (const text of ['a', 'b', 'c', 'd', 'e']) await queue.put(text);
  queue.end();
  await taking;
  expect(taken).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('holds few texts: whoever puts one more waits until one is taken', async () => {
  const queue = new CopyQueue();
  await queue.put('a');
  await queue.put('b');
  let isIn = false;
  const third = queue.put('c').then(() => {
    isIn = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  expect(isIn).toBe(false);
  const texts = queue[Symbol.asyncIterator]();
  expect(await texts.next()).toEqual({ done: false, value: 'a' });
  await third;
  expect(isIn).toBe(true);
});

it('lets whoever puts one go on when the COPY has failed, which says why', async () => {
  const fresh = await freshDatabase();
  await fresh.db.query('create table numbers (n int)');
  const queue = new CopyQueue();
  const copy = fresh.db.transaction((tx) => tx.copy('copy numbers from stdin', queue));
  copy.catch(() => {});
  for (let put = 0; put < 20; put += 1) await queue.put('no number\n'.repeat(20_000));
  queue.end();
  await expect(copy).rejects.toThrow('invalid input syntax');
  await fresh.drop();
});
