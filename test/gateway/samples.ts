// What travels on the wire, written by hand from the gateway's document and nothing else: requests
// as a merchant gives them, answers as the gateway would print them. No builder of the program and
// no sandbox has a part in them; signatures are worked out here with plain hashes.

import { createHash } from 'node:crypto';
import { FIXED_INPUTS } from './documentFields.js';

/** `profile: sandbox`: sha256 over the values and then the key. */
export function signatureOver(...values: string[]): string {
  return createHash('sha256')
    .update(`${values.join('')}key-of-a1`)
    .digest('hex');
}

/** Direct payment with every group of fields. */
export const PAYMENT = {
  order_no: 'SO-1',
  currency: 'EUR',
  amount: '10.00',
  item_total: '8.00',
  shipping: '2.00',
  site: 'https://shop.example',
  items: 'SKU1#,#Boots#,#8.00#,#1',
  shopper_email: 'zoe@mail.example',
  first_name: 'Zoé',
  last_name: 'Łuk',
  birth_date: '31-01-1990',
  checkout_time: 1_795_000_000,
  cart_items: [
    {
      basic_item_data: {
        name: 'Boots',
        quantity: '1',
        price: { amount_usd: 9.5, amount_local_currency: 8, currency: 'EUR' },
      },
    },
  ],
  account_owner: [{ first_name: 'Zoé', created: 1, past_orders_sum: 12.5 }],
  additional_information: [{ mpi_info: { eci: '05', cavv: 'AAAB' } }],
  subscription: { contract_name: 'monthly', contract_amount: '10.00', billing_cycle: 12 },
};
export const CARD = {
  card: '4111111111111111',
  expiration_month: '12',
  expiration_year: '2030',
  security_code: '123',
  accept: 'text/html',
};

/** `respon` of a direct payment in which all went well, with every element of the table. */
export const PAYMENT_ELEMENTS: Record<string, string> = {
  merchant_id: 'M1',
  account_id: 'A1',
  order_no: 'SO-1',
  amount: '10.00',
  currency: 'EUR',
  transaction_id: '2026111900001',
  card: '411111******1111',
  order_status: '1',
  result_info: '0000:Success',
  contract_name: 'monthly',
  recurring_id: 'R-7',
  recurring_deduction_period: '30',
  recurring_deduction_time: '2026-12-19 10:00:00',
  note: 'Caf&#233; &amp; more',
  token_id: 'tok-1',
  connector: 'conn-a',
  threeds_result: 'authenticated',
  risk_action: 'ACCEPT',
  risk_score: '12',
  encryption_data: signatureOver('M1', 'A1'),
};

export function paymentXml(change: Record<string, string> = {}): string {
  const elements = Object.entries({ ...PAYMENT_ELEMENTS, ...change })
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('\n  ');
  return `<?xml version="1.0" encoding="UTF-8"?>
<respon>
  ${elements}
  <risk_reasons><name>velocity</name><status>PASS</status></risk_reasons>
  <risk_reasons><name>country</name><status>PASS</status></risk_reasons>
</respon>`;
}

export const APM = {
  order_no: 'SO-2',
  currency: 'BRL',
  amount: '25.50',
  payment_method: 'bank-transfer',
  return_url: 'https://shop.example/back',
  person: {
    document_number: '1',
    documents: { labels: { bank_account: { owner_name: 'Ana', bank: { code: '001' } } } },
  },
};

export const APM_XML = `<?xml version="1.0" encoding="UTF-8"?>
<respon>
  <merchant_id>M1</merchant_id><account_id>A1</account_id><order_no>SO-2</order_no>
  <amount>25.50</amount><currency>BRL</currency>
  <issuer_url>https://issuer.example/pay?a=1&amp;b=2</issuer_url>
</respon>`;

/** The self-submitting page; more inputs are added by its script when a browser runs it. */
export const CHECKOUT_HTML = `<?xml version="1.0"?>
<!DOCTYPE html>
<html><head><title>Payment &lt;form&gt;</title>
<script type="text/javascript">
  function send() {
    var form = document.forms[0];
    form.innerHTML += '<input type="hidden" name="orderNo" value="SO-1"/></form><form>';
    form.submit();
  }
</script></head>
<body onload="send()">
<!-- <form action="https://elsewhere.example"> -->
<form id="pay" action="/payment/page?x=1&amp;y=2" method="POST">
${FIXED_INPUTS.map((name) => `<input type="hidden" name="${name}" value="v-${name}"/>`).join('\n')}
  <INPUT TYPE=hidden NAME='order_no' VALUE='SO-1'>
  <input type='hidden' name='greeting' value='&quot;Zo&#233;&quot; &amp; &#x141;uk'>
  <input type="submit" value="Pay">
</form>
</body></html>`;

export const PAYOUT = {
  request_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  payment_currency: 'USD',
  payment_amount: '150000',
  payment_date: '2026-11-20',
  payment_method: 'SWIFT',
  fee_paid_by: 'PAYER',
  swift_charge_option: 'SHARED',
  fund_source: 'DepositAccount',
  reason: 'supplier',
  beneficiary: {
    entity_type: 'COMPANY',
    company_name: 'Łuk sp. z o.o.',
    address: { city: 'Łódź', country_code: 'PL' },
    person_documents: [{ file_type: 'id', labels: ['front', 'back'] }],
    bank_details: { iban: 'PL61109010140000071219812874', bank_code: '109' },
  },
  payer: { company_name: 'Shop', additional_info: { job: 'trade' } },
};

/** The numbers stand in the text, since a number in code would not keep its digits. */
export function payoutJson(change: Record<string, unknown> = {}): string {
  const { bank_code: _, ...bank } = PAYOUT.beneficiary.bank_details;
  const echo = {
    merchant_id: 'M1',
    account_id: 'A1',
    ...PAYOUT,
    beneficiary: { ...PAYOUT.beneficiary, bank_details: { ...bank, local_clearing_system: 'X' } },
    encryption_data: 'ab',
    created_at: '2026-11-20T04:15:00+0100',
    last_updated_at: '2026-11-20T04:15:01+0100',
    failure_reason: '',
    failure_type: '',
    fee_currency: 'USD',
    payer_id: 'P-1',
    transaction_id: 'PT-1',
    short_reference_id: '20261120-ABC123',
    status: 'COMPLETED',
    ...change,
  };
  const numbers =
    '"amount_beneficiary_receives":150000.00,"amount_payer_pays":90071992547409931.25,' +
    '"fee_amount":12.5';
  return JSON.stringify(echo).replace(/\}$/, `,${numbers}}`);
}

/** A batch of one order, as each operation asks and is answered. */
const ENTRY = { transaction_id: 'T1', order_no: 'SO-1', currency: 'EUR', amount: '10.00' };
export const BATCH_SAMPLES = {
  capture: { sent: {}, got: { capture_status: '1', error_message: '' }, signed: 'T110.00' },
  cancel: { sent: {}, got: { cancel_status: '1', error_message: '' }, signed: 'T110.00' },
  review: {
    sent: { review_flag: '1' },
    got: { review_flag: '1', review_status: '1', error_message: '' },
    signed: 'T110.00',
  },
  refund: {
    sent: { refund_amount: '4.00', refund_reason: 'late' },
    got: {
      refund_amount: '4.00',
      refund_reason: 'late',
      refund_message: 'V0000:OK',
      refund_reference: 'r',
      refund_reference_id: 'T1-01',
      refund_status: '1',
    },
    signed: 'T14.00',
  },
} as const;

export function batchJson(operation: keyof typeof BATCH_SAMPLES, change: object = {}): string {
  return JSON.stringify({
    merchant_id: 'M1',
    account_id: 'A1',
    encryption_data: signatureOver('M1', 'A1', '1'),
    return_status: '1',
    return_message: 'OK',
    [`${operation}_orders`]: [{ ...ENTRY, ...BATCH_SAMPLES[operation].got, ...change }],
  });
}

/** An answer to a query with every field of an entry. */
export const QUERY_JSON = JSON.stringify({
  merchant_id: 'M1',
  account_id: 'A1',
  return_status: '1',
  return_message: 'OK',
  orders_list: [
    {
      amount: '10.00',
      currency: 'EUR',
      delivery_information: {
        delivery_address: 'Street 1',
        delivery_city: 'Łódź',
        delivery_country: 'PL',
        delivery_firstname: 'Zoé',
        delivery_lastname: 'Łuk',
        delivery_postal_code: '90-001',
        delivery_state: 'LD',
      },
      antifraud_provider: 'guard',
      fraud_check_result: [
        { check_items: 'velocity', status: 'ACCEPT' },
        { check_items: 'address', status: 'REJECT' },
      ],
      is3ds: '0',
      order_no: 'SO-1',
      payment_status: '3000',
      query_result: '1',
      reference_no: 'REF-1',
      shopper_email: 'zoe@mail.example',
      shopper_phone: '+48 000 000',
      subscription_result: {
        contract_name: 'monthly',
        recurring_deduction_period: '30',
        recurring_deduction_time: '2026-12-19',
        recurring_id: 'R-7',
        recurring_status: '1',
      },
      transaction_date: '20261119120000',
      transaction_id: 'T1',
      'the service': 'https://shop.example',
    },
  ],
});
