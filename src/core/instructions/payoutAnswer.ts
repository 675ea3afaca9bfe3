// What the gateway said of a payout, as it is kept with its instruction and shown: what its status
// means, and what it cost. The document gives a currency for the fee alone; in which currency the
// payer pays and the beneficiary receives is not shown. Pure.

import { moneyIn } from '../text/amounts.js';

/** Names are those of the document; amounts the digits as they came. */
export interface PayoutAnswer {
  /** by the profile when it was read */
  meaning: 'done' | 'pending' | 'failed';
  status: string | null;
  fee_amount: string | null;
  fee_currency: string | null;
  /** fee_amount as money with two decimals; null: its unit is not known, or it is none */
  fee: string | null;
  amount_payer_pays: string | null;
  amount_beneficiary_receives: string | null;
  created_at: string | null;
  last_updated_at: string | null;
  payer_id: string | null;
  short_reference_id: string | null;
  /** absent in answers that were read before it was kept */
  local_clearing_system?: string | null;
}

/** In one line, for sheets, stories and the workbook; empty where nothing is known. */
export function payoutWords(answer: PayoutAnswer | null): string {
  if (answer === null) return '';
  const currency = answer.fee_currency ?? '';
  // In which unit it came, the profile does not say, or the digits do not fit it.
  const came =
    answer.fee_amount === null ? null : `${`${answer.fee_amount} ${currency}`.trim()} as it came`;
  const fee = answer.fee === null ? came : moneyIn(answer.fee, currency);
  const updated = answer.last_updated_at ?? answer.created_at;
  return [
    answer.status === null ? null : `${answer.status} (${answer.meaning})`,
    fee === null ? null : `fee ${fee}`,
    answer.amount_payer_pays === null ? null : `payer pays ${answer.amount_payer_pays}`,
    answer.amount_beneficiary_receives === null
      ? null
      : `beneficiary receives ${answer.amount_beneficiary_receives}`,
    answer.short_reference_id === null ? null : `reference ${answer.short_reference_id}`,
    answer.local_clearing_system ? `clearing by ${answer.local_clearing_system}` : null,
    answer.payer_id === null ? null : `payer ${answer.payer_id}`,
    updated === null ? null : `last changed ${updated}`,
  ]
    .filter((part) => part !== null)
    .join(', ');
}
