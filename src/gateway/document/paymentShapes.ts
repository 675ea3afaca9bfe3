// The payment messages as data: each documented field with its type on the wire, for the check
// before sending. `satisfies` keeps the tables as complete as paymentMessages.ts. No rule lives
// here. Amounts are the fields that the document calls decimal; all else is text unless it says so.

import type { RecordShape, Shape } from './messageShape.js';
import type {
  AccountOwner,
  AdditionalInformation,
  ApmPayment,
  CardPaymentFields,
  CartItem,
  DirectPayment,
  HostedPayment,
  PayerPerson,
  PaymentFields,
  PersonBankAccount,
  Subscription,
  TotalDiscount,
} from './paymentMessages.js';

type ShapeOf<T> = Record<keyof Required<T>, Shape>;

/** A table in which every named field is text. */
export function textFields<Name extends string>(...names: Name[]): Record<Name, 'text'> {
  return Object.fromEntries(names.map((name) => [name, 'text'])) as Record<Name, 'text'>;
}

const PAYMENT = {
  ...textFields('order_no', 'currency', 'items', 'note'),
  amount: 'amount',
  item_total: 'amount',
  shipping: 'amount',
  handling: 'amount',
  tax_total: 'amount',
  insurance: 'amount',
  shipping_discount: 'amount',
  discount: 'amount',
  ...textFields('shopper_id', 'shopper_email', 'shopper_ip', 'shopper_phone', 'shopper_level'),
  ...textFields('first_name', 'last_name', 'notify_url', 'document', 'birth_date'),
  ...textFields('billing_country', 'billing_state', 'billing_city', 'billing_address'),
  ...textFields('billing_postal_code', 'os', 'browser', 'browser_lang', 'time_zone'),
  ...textFields('resolution', 'color_depth', 'cookie_new', 'cookie_old', 'delivery_firstname'),
  ...textFields('delivery_lastname', 'delivery_country', 'delivery_state', 'delivery_city'),
  ...textFields('delivery_address', 'delivery_postal_code', 'custom', 'device_fingerprint'),
  ...textFields('platform_source', 'device_type'),
} satisfies ShapeOf<PaymentFields>;

const CART_ITEM = {
  basic_item_data: {
    record: {
      ...textFields('name', 'quantity', 'type', 'category', 'productId'),
      price: {
        record: { amount_usd: 'number', amount_local_currency: 'number', currency: 'text' },
      },
    } satisfies ShapeOf<CartItem['basic_item_data']>,
  },
} satisfies ShapeOf<CartItem>;

const OWNER = {
  ...textFields('first_name', 'last_name', 'email', 'account_id', 'lastLogin_ip'),
  registration_ip: 'text',
  created: 'number',
  past_orders_count: 'number',
  past_orders_sum: 'number',
} satisfies ShapeOf<AccountOwner>;

const DISCOUNT = textFields('coupon_code_used', 'discount_type') satisfies ShapeOf<TotalDiscount>;

const INFORMATION = {
  mpi_info: {
    record: textFields('eci', 'cavv', 'xid', 'dsTransID') satisfies ShapeOf<
      AdditionalInformation['mpi_info']
    >,
  },
} satisfies ShapeOf<AdditionalInformation>;

const SUBSCRIPTION = {
  ...textFields('contract', 'contract_name', 'interval', 'interval_count', 'contract_start'),
  ...textFields('contract_end', 'price_id'),
  contract_amount: 'amount',
  billing_cycle: 'integer',
  promotion_cycle: 'integer',
} satisfies ShapeOf<Subscription>;

const CARD_PAYMENT = {
  ...textFields('site', 'open3d', 'token_flag', 'token_id', 'user_agent'),
  ...textFields('challenge_window_size', 'session_id', 'installments', 'installments_id'),
  ...textFields('order_type', 'fraudprovider_token_cookie', 'price_id', 'quote_id', 'quote_price'),
  storefront_domains: 'text',
  checkout_time: 'integer',
  cart_items: { list: { record: CART_ITEM } },
  account_owner: { list: { record: OWNER } },
  total_discount: { list: { record: DISCOUNT } },
  additional_information: { list: { record: INFORMATION } },
  subscription: { record: SUBSCRIPTION },
} satisfies ShapeOf<CardPaymentFields>;

const BANK_ACCOUNT = {
  ...textFields('account_type', 'account_number', 'branch_number', 'owner_document_number'),
  ...textFields('owner_name', 'branch_country', 'currency'),
  bank: { record: textFields('code', 'name') },
} satisfies ShapeOf<PersonBankAccount>;

const PERSON = {
  ...textFields('document_number', 'document_type', 'social_name', 'email', 'phone_country_code'),
  ...textFields('phone_area_code', 'phone_number', 'birth_date', 'net_monthly_average_income'),
  ...textFields('address_street', 'address_number', 'address_complement', 'address_postal_code'),
  ...textFields('address_city', 'address_state', 'address_country', 'fiscal_country'),
  documents: {
    record: {
      ...textFields('file_type', 'file_data', 'file_url'),
      labels: {
        record: { person_bank_account_id: 'text', bank_account: { record: BANK_ACCOUNT } },
      },
    },
  },
} satisfies ShapeOf<PayerPerson>;

/** Absent from a hosted page and from an APM payment. */
export const CARD_FIELDS = [
  'card',
  'expiration_month',
  'expiration_year',
  'security_code',
] as const;

export const DIRECT_SHAPE: RecordShape = {
  ...PAYMENT,
  ...CARD_PAYMENT,
  ...textFields(...CARD_FIELDS, 'accept'),
} satisfies ShapeOf<DirectPayment>;

export const HOSTED_SHAPE: RecordShape = {
  ...PAYMENT,
  ...CARD_PAYMENT,
  ...textFields('return_url', 'cancel_url'),
} satisfies ShapeOf<HostedPayment>;

export const APM_SHAPE: RecordShape = {
  ...PAYMENT,
  ...textFields('payment_method', 'delivery_district_name', 'delivery_street_name', 'return_url'),
  bank_code: 'text',
  person: { record: PERSON },
} satisfies ShapeOf<ApmPayment>;
