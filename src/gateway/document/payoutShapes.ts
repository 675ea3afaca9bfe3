// The payout request as data: each documented field with its type on the wire, for the check
// before sending. `satisfies` keeps the table as complete as payoutMessages.ts. No rule lives here.

import type { RecordShape, Shape } from './messageShape.js';
import { textFields } from './paymentShapes.js';
import type { BankDetails, Beneficiary, Payer, Payout, PersonDocument } from './payoutMessages.js';

type ShapeOf<T> = Record<keyof Required<T>, Shape>;
type Inner<T, Name extends keyof T> = NonNullable<T[Name]>;

const BUSINESS = {
  ...textFields('business_area', 'business_phone_number', 'business_registration_number'),
  ...textFields('personal_email', 'personal_id_number', 'personal_id_type'),
  ...textFields('personal_mobile_number', 'personal_net_monthly_average_income'),
  ...textFields('personal_phone_country_code', 'personal_phone_area_code'),
  personal_fiscal_country: 'text',
} satisfies ShapeOf<Inner<Beneficiary, 'additional_info'>>;

const ADDRESS = {
  ...textFields('city', 'country_code', 'postcode', 'state', 'street', 'number'),
  ...textFields('street_address', 'complement'),
} satisfies ShapeOf<Inner<Beneficiary, 'address'>>;

const DOCUMENT = {
  ...textFields('file_type', 'file_url'),
  labels: { list: 'text' },
} satisfies ShapeOf<PersonDocument>;

const BANK = {
  ...textFields('account_currency', 'account_name', 'owner_document_number', 'account_number'),
  ...textFields('bank_account_category', 'bank_branch', 'bank_country_code', 'bank_code'),
  ...textFields('bank_name', 'bank_street_address', 'binding_mobile_number', 'iban'),
  ...textFields('swift_code', 'transaction_reference'),
} satisfies ShapeOf<BankDetails>;

const BENEFICIARY = {
  additional_info: { record: BUSINESS },
  address: { record: ADDRESS },
  person_documents: { list: { record: DOCUMENT } },
  bank_details: { record: BANK },
  date_of_birth: 'date',
  ...textFields('company_name', 'entity_type', 'first_name', 'last_name'),
} satisfies ShapeOf<Beneficiary>;

const PAYER = {
  additional_info: {
    record: {
      ...textFields('business_registration_number', 'business_registration_type', 'external_id'),
      ...textFields('personal_email', 'personal_id_number', 'job'),
    } satisfies ShapeOf<Inner<Payer, 'additional_info'>>,
  },
  address: {
    record: textFields(
      'city',
      'country_code',
      'postcode',
      'state',
      'street_address',
    ) satisfies ShapeOf<Inner<Payer, 'address'>>,
  },
  date_of_birth: 'date',
  ...textFields('company_name', 'entity_type', 'first_name', 'last_name'),
} satisfies ShapeOf<Payer>;

export const PAYOUT_SHAPE: RecordShape = {
  request_id: 'uuid',
  payment_amount: 'whole',
  source_amount: 'whole',
  payment_date: 'date',
  beneficiary: { record: BENEFICIARY },
  payer: { record: PAYER },
  ...textFields('payment_currency', 'source_currency', 'beneficiary_id', 'client_data'),
  ...textFields('fee_paid_by', 'payment_method', 'reason', 'reference', 'swift_charge_option'),
  ...textFields('fund_source', 'notify_url'),
} satisfies ShapeOf<Payout>;
