// Answers with every field that the document prints, as plain records: made from the lists of
// documentFields.ts, so that none can be forgotten, with values of the printed shapes.

import type { Json } from './batchAnswer.js';
import { PAYOUT_ANSWER, PAYOUT_REQUEST } from './documentFields.js';
import { payoutJson, QUERY_JSON } from './samples.js';

/** A copy in which the field under `path` is `value`; undefined: it is gone. Lists: their first. */
export function changed(record: Json, path: string, value: unknown): Json {
  const copy = structuredClone(record);
  const names = path.replaceAll('[]', '.0').split('.');
  const last = names.pop() ?? '';
  let at = copy as Record<string, unknown>;
  for (const [index, name] of names.entries()) {
    const next = names[index + 1] ?? last;
    at[name] ??= next === '0' ? [] : {};
    at = at[name] as Record<string, unknown>;
  }
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

/** Every field of the request, each with a value of its own. */
export const WHOLE_PAYOUT: Json = PAYOUT_REQUEST.reduce<Json>(
  (record, path) => changed(record, path, `v-${path}`),
  {},
);
Object.assign(WHOLE_PAYOUT, {
  request_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  ...{ payment_amount: '150000', payment_currency: 'USD', payment_date: '2026-11-20' },
  ...{ source_amount: '140000', source_currency: 'EUR' },
});
for (const person of ['beneficiary', 'payer']) {
  Object.assign(WHOLE_PAYOUT[person] as Json, { date_of_birth: '1990-01-31' });
}

/** The answer that echoes it whole, and its own fields beside it. */
export function wholePayoutAnswer(change: Json = {}): Json {
  const own = JSON.parse(payoutJson()) as Json;
  const echo = changed(WHOLE_PAYOUT, 'beneficiary.bank_details.bank_code', undefined);
  const added = ['merchant_id', 'account_id', 'encryption_data', ...PAYOUT_ANSWER];
  const beside = Object.fromEntries(added.map((name) => [name, own[name]]));
  const answer = { ...echo, ...beside, ...change };
  return changed(answer, 'beneficiary.bank_details.local_clearing_system', 'SORBNET');
}

export const QUERY_RECORD = JSON.parse(QUERY_JSON) as Json;

/** A record as `respon`: lists are elements that repeat. */
export function responXml(record: Json): string {
  return `<respon>${elements(record)}</respon>`;
}

function elements(record: Json): string {
  return Object.entries(record)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]))
    .map(([name, one]) => {
      const inner = typeof one === 'object' ? elements(one as Json) : String(one);
      return `<${name}>${inner}</${name}>`;
    })
    .join('');
}
