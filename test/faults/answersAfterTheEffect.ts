// How the answer to a capture goes wrong after the gateway did it, one row a way. Two entries are
// sent; each row says how many of them nobody can believe any more.

import { gzipSync } from 'node:zlib';
import type { Call, Trouble } from './front.js';
import { answerWith, drop, neverEnd, retell } from './front.js';

export type Answered = Record<string, unknown> & { capture_orders: Record<string, string>[] };
type Retold = (answer: Answered) => unknown;

const told =
  (change: Retold) =>
  (call: Call): Promise<true> =>
    retell(call, (answer) => change(answer as Answered));

/** How the answer to a capture of two orders goes wrong after the gateway captured both. */
export const AFTER_THE_EFFECT: readonly {
  name: string;
  trouble: Trouble;
  /** How many of the two entries become unknown. */
  unknown: 1 | 2;
}[] = [
  {
    name: 'the connection is reset',
    unknown: 2,
    trouble: async (call) => {
      await call.pass();
      return drop(call);
    },
  },
  {
    name: 'a 502',
    unknown: 2,
    trouble: async (call) => {
      await call.pass();
      answerWith(call.response, { status: 502, contentType: 'text/html', body: '<p>Bad gateway' });
      return true;
    },
  },
  {
    name: 'a page for people',
    unknown: 2,
    trouble: async (call) => {
      await call.pass();
      answerWith(call.response, {
        status: 200,
        contentType: 'text/html',
        body: '<p>Please log in',
      });
      return true;
    },
  },
  {
    name: 'half of the answer',
    unknown: 2,
    trouble: async (call) => {
      const { body } = await call.pass();
      call.response.writeHead(200, { 'content-length': body.length });
      call.response.write(body.slice(0, body.length / 2), () => call.response.destroy());
      return true;
    },
  },
  {
    name: 'half of the JSON, whole by its length',
    unknown: 2,
    trouble: async (call) => {
      const { body, ...head } = await call.pass();
      answerWith(call.response, { ...head, body: body.slice(0, body.length / 2) });
      return true;
    },
  },
  {
    name: 'a compressed answer nobody asked for',
    unknown: 2,
    trouble: async (call) => {
      const { body } = await call.pass();
      call.response.writeHead(200, { 'content-encoding': 'gzip' });
      call.response.end(gzipSync(body));
      return true;
    },
  },
  {
    name: 'an endless answer',
    unknown: 2,
    trouble: async (call) => {
      await call.pass();
      return neverEnd(call, 1, 1 << 20);
    },
  },
  {
    name: 'another return_status',
    unknown: 2,
    trouble: told((answer) => ({ ...answer, return_status: '0' })),
  },
  {
    name: 'another account',
    unknown: 2,
    trouble: told((answer) => ({ ...answer, account_id: 'A1002' })),
  },
  {
    name: 'another merchant',
    unknown: 2,
    trouble: told((answer) => ({ ...answer, merchant_id: 'M9' })),
  },
  {
    name: 'an entry twice',
    unknown: 2,
    trouble: told((answer) => changed(answer, ([first, ...rest]) => [first, first, ...rest])),
  },
  {
    name: 'an entry nobody asked for',
    unknown: 2,
    trouble: told((answer) =>
      changed(answer, ([first, ...rest]) => [first, ...rest, { ...first, order_no: 'X-1' }]),
    ),
  },
  {
    name: 'the transactions swapped',
    unknown: 2,
    trouble: told((answer) =>
      changed(answer, ([first, second]) => [
        { ...first, transaction_id: second?.transaction_id },
        { ...second, transaction_id: first?.transaction_id },
      ]),
    ),
  },
  {
    name: 'an entry missing',
    unknown: 1,
    trouble: told((answer) => changed(answer, ([, ...rest]) => rest)),
  },
  {
    name: 'another amount',
    unknown: 1,
    trouble: told((answer) =>
      changed(answer, ([first, ...rest]) => [{ ...first, amount: `9${first?.amount}` }, ...rest]),
    ),
  },
  {
    name: 'another currency',
    unknown: 1,
    trouble: told((answer) =>
      changed(answer, ([first, ...rest]) => [{ ...first, currency: 'XTS' }, ...rest]),
    ),
  },
  {
    name: 'done and an error at once',
    unknown: 1,
    trouble: told((answer) =>
      changed(answer, ([first, ...rest]) => [{ ...first, error_message: 'declined' }, ...rest]),
    ),
  },
  {
    name: 'a status without a meaning',
    unknown: 1,
    trouble: told((answer) =>
      changed(answer, ([first, ...rest]) => [{ ...first, capture_status: '7' }, ...rest]),
    ),
  },
];

function changed(
  answer: Answered,
  change: (entries: Record<string, string>[]) => (Record<string, string | undefined> | undefined)[],
): Answered {
  return { ...answer, capture_orders: change(answer.capture_orders) as Record<string, string>[] };
}
