// Every field of every answer that the document prints is read by name, and a change of it reaches
// what is stored or told; or it stands below with the reason why nobody takes it up. A field that
// is only declared, or copied along with the whole, counts for nothing.

import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { callLines } from '../../src/cli/gateway/gatewayText.js';
import { candidateWords } from '../../src/core/instructions/hints.js';
import { payoutWords } from '../../src/core/instructions/payoutAnswer.js';
import { OPERATIONS } from '../../src/core/orders/order.js';
import { prepareBatch } from '../../src/gateway/batches/prepareBatch.js';
import { createGatewayClient } from '../../src/gateway/client.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { readHiddenForm } from '../../src/gateway/payments/hiddenForm.js';
import { readApmAnswer, readDirectAnswer } from '../../src/gateway/payments/paymentAnswer.js';
import { prepareApm, prepareDirect } from '../../src/gateway/payments/payments.js';
import { decodeQueryAnswer } from '../../src/gateway/query/decode.js';
import { shownLines, shownRecords } from '../../src/orders/shownRecord.js';
import { outcomesOf } from '../../src/send/outcomes.js';
import {
  changed,
  QUERY_RECORD,
  responXml,
  WHOLE_PAYOUT,
  wholePayoutAnswer,
} from './answerSamples.js';
import { batchOf, fineAnswer, type Json, rawAnswer, signed } from './batchAnswer.js';
import {
  APM_ANSWER,
  BATCH_ANSWER,
  BATCHES,
  DIRECT_ANSWER,
  FIXED_INPUTS,
  NOT_TAKEN_UP,
  PAYOUT_ANSWER_WHOLE,
  QUERY_ANSWER,
  SCRIPT_INPUTS,
} from './documentFields.js';
import { ACCOUNT } from './rawServer.js';
import { readsOf } from './recorder.js';
import { APM, CARD, CHECKOUT_HTML, PAYMENT, PAYMENT_ELEMENTS } from './samples.js';

const PROFILE = sandboxProfile();
const gateway = createGatewayClient({ profile: PROFILE, baseUrl: 'http://127.0.0.1:9' });
afterAll(() => gateway.close());

interface Answer {
  name: string;
  document: readonly string[];
  /** In which a change is looked for: all went well, something did not, something is absent. */
  samples: readonly Json[];
  /** What the program stores of it, or tells a person. */
  end: (record: Json) => unknown;
}

const sentBy = (operation: string, entries: object[], wire: object[]) =>
  ({ batch: { operation }, account: ACCOUNT, entries, wire }) as unknown as Parameters<
    typeof outcomesOf
  >[1];

function queryEnd(record: Json): unknown {
  const answer = rawAnswer(record);
  const told = shownRecords(PROFILE, 'SO-1', gzipSync(answer.body)).flatMap(shownLines);
  return [decodeQueryAnswer(ACCOUNT, answer), told];
}

function payoutEnd(record: Json): unknown {
  const { request_id: transactionId } = WHOLE_PAYOUT;
  const sent = sentBy('payout', [{ instructionId: 1n, transactionId, payload: WHOLE_PAYOUT }], []);
  const { outcomes, reason } = outcomesOf({ gateway }, sent, rawAnswer(record));
  const told = outcomes.map(({ payout, kind, code, message, reference, reason: why }) => {
    return [payoutWords(payout ?? null), kind, code, message, reference, why];
  });
  return [told, reason];
}

function batchAnswer(operation: (typeof OPERATIONS)[number]): Answer {
  const wire = batchOf(operation, 1);
  const sent = sentBy(operation, [{ instructionId: 1n }], wire);
  expect(prepareBatch(PROFILE, ACCOUNT, operation, wire).body.length).toBeGreaterThan(0);
  const fine = signed(operation, fineAnswer(operation, wire));
  const status = `${operation}_orders[].${operation}_status`;
  return {
    name: `a ${operation}`,
    document: [
      ...BATCH_ANSWER,
      ...(BATCHES[operation]?.got ?? []).map((name) => `${operation}_orders[].${name}`),
    ],
    samples: [fine, changed(fine, status, '0'), { ...fine, return_status: '0' }],
    end: (record) => outcomesOf({ gateway }, sent, rawAnswer(record)),
  };
}

function paymentLines(read: (answer: ReturnType<typeof rawAnswer>) => object, record: Json) {
  const body = rawAnswer(responXml(record));
  const { kind, reason, signatureWarning, ...understood } = read(body) as Record<string, unknown>;
  return callLines('authorise', 'A1', {
    request: {
      path: '/v1/authorise',
      contentType: 'application/json',
      message: {},
      headerNames: [],
    },
    ...{ signedFields: [], undocumented: [], status: 200, unmapped: {}, isFine: true },
    kind: String(kind),
    reason: String(reason ?? signatureWarning),
    understood: Object.keys(understood).length === 0 ? null : understood,
    body: body.body,
  });
}

const direct = prepareDirect(PROFILE, ACCOUNT, { ...PAYMENT, ...CARD });
const apm = prepareApm(PROFILE, ACCOUNT, APM);
const DIRECT: Json = { ...PAYMENT_ELEMENTS, risk_reasons: [{ name: 'country', status: 'PASS' }] };

const ANSWERS: Answer[] = [
  {
    name: 'a query',
    document: QUERY_ANSWER,
    samples: [QUERY_RECORD, { ...QUERY_RECORD, return_status: '0' }],
    end: queryEnd,
  },
  ...OPERATIONS.map(batchAnswer),
  {
    name: 'a payout',
    document: PAYOUT_ANSWER_WHOLE,
    samples: [
      wholePayoutAnswer(),
      wholePayoutAnswer({ status: 'FAILED', failure_type: 'BANK', failure_reason: 'closed' }),
      changed(wholePayoutAnswer(), 'last_updated_at', undefined),
    ],
    end: payoutEnd,
  },
  {
    name: 'a direct payment',
    document: DIRECT_ANSWER,
    samples: [DIRECT],
    end: (record) =>
      paymentLines((answer) => readDirectAnswer(PROFILE, ACCOUNT, direct, answer), record),
  },
  {
    name: 'an alternative payment method',
    document: APM_ANSWER,
    samples: [
      {
        ...{ merchant_id: 'M1', account_id: 'A1', order_no: APM.order_no, amount: APM.amount },
        ...{ currency: APM.currency, issuer_url: 'https://issuer.example/pay' },
      },
    ],
    end: (record) => paymentLines((answer) => readApmAnswer(PROFILE, apm, answer), record),
  },
];

/** Fields of the document of which `reads` knows nothing. */
function unread({ name, document }: Pick<Answer, 'name' | 'document'>, reads: Set<string>) {
  return document.filter((path) => !reads.has(path) && !(`${name}: ${path}` in NOT_TAKEN_UP));
}

/** Another text, another amount, a code that is shown, and nothing at all. */
const OTHERS = ['Q7', '7.77', 'REJECT', undefined];

function hasEffect({ samples, end }: Answer, path: string): boolean {
  return samples.some((sample) => {
    const before = printed(end(sample));
    return OTHERS.some((value) => printed(end(changed(sample, path, value))) !== before);
  });
}

const printed = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));

describe('the answer to', () => {
  it.each(ANSWERS)('$name is read field by field', (answer) => {
    const reads = readsOf(() => answer.samples.map(answer.end));
    expect(unread(answer, reads)).toEqual([]);
  });

  it.each(ANSWERS)('$name reaches what is stored or told with every field', (answer) => {
    const silent = answer.document.filter((path) => !hasEffect(answer, path));
    const listed = answer.document.filter((path) => `${answer.name}: ${path}` in NOT_TAKEN_UP);
    expect(silent).toEqual(listed);
  });

  it('a checkout keeps each fixed input of the form, and runs no script for the others', () => {
    const form = readHiddenForm(CHECKOUT_HTML);
    const inputs = form.kind === 'form' ? [...form.inputs.keys()] : [];
    expect(FIXED_INPUTS.filter((name) => !inputs.includes(name))).toEqual([]);
    expect(SCRIPT_INPUTS.filter((name) => inputs.includes(name))).toEqual([]);
  });
});

describe('a notification', () => {
  it.each([
    ['JSON', JSON.stringify(QUERY_RECORD)],
    ['XML', responXml(DIRECT)],
    ['a form', 'order_no=SO-1&payment_status=3000'],
  ])('as %s is read by no field: its words alone hint at orders', (_, body) => {
    const words = candidateWords(body);
    expect(words).toContain('SO-1');
    expect([...readsOf(() => candidateWords(body))]).toEqual([]);
  });
});

describe('the recorder', () => {
  const document = ['order_no', 'is3ds'];
  const text = '{"order_no":"SO-1","is3ds":"0"}';
  it.each<[string, () => unknown, string[]]>([
    ['a copy by spread', () => ({ ...(JSON.parse(text) as Json) }), document],
    ['a copy as text', () => JSON.stringify(JSON.parse(text)), document],
    ['a copy entry by entry', () => Object.entries(JSON.parse(text) as Json), document],
    ['what is asked for without being read', () => 'is3ds' in (JSON.parse(text) as Json), document],
    ['a field that is declared', () => JSON.parse(text) as { order_no: string }, document],
    ['one that is read', () => (JSON.parse(text) as Json).is3ds, ['order_no']],
  ])('calls %s what it is', (_, run, missing) => {
    expect(unread({ name: 'a sample', document }, readsOf(run))).toEqual(missing);
  });
});
