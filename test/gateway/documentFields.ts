// Every field that the gateway's document prints, copied out of its tables by hand, section by
// section. Nested records are written as paths; `[]` marks a list. The tests look for each of them
// in the types and tables of the program, never the other way round.

const words = (text: string): string[] => text.trim().split(/\s+/);
const under = (path: string, text: string): string[] => words(text).map((name) => path + name);

const IDS = words('merchant_id account_id');

const ORDER = words(`order_no currency amount item_total shipping handling tax_total insurance
  shipping_discount discount items note shopper_id shopper_email shopper_ip shopper_phone
  shopper_level notify_url first_name last_name document birth_date billing_country billing_state
  billing_city billing_address billing_postal_code os browser browser_lang time_zone resolution
  color_depth cookie_new cookie_old delivery_firstname delivery_lastname delivery_country
  delivery_state delivery_city delivery_address delivery_postal_code custom device_fingerprint
  platform_source device_type`);

/** Direct payment and hosted page; the merchant's web site is the profile's siteField. */
const CARD_ORDER = [
  ...words(`open3d token_flag token_id user_agent challenge_window_size session_id installments
    installments_id order_type checkout_time fraudprovider_token_cookie price_id quote_id
    quote_price storefront_domains`),
  ...under('cart_items[].basic_item_data.', 'name quantity type category productId'),
  ...under('cart_items[].basic_item_data.price.', 'amount_usd amount_local_currency currency'),
  ...under(
    'account_owner[].',
    `first_name last_name email account_id created past_orders_count past_orders_sum lastLogin_ip
     registration_ip`,
  ),
  ...under('total_discount[].', 'coupon_code_used discount_type'),
  ...under('additional_information[].mpi_info.', 'eci cavv xid dsTransID'),
  ...under(
    'subscription.',
    `contract contract_name contract_amount interval interval_count billing_cycle promotion_cycle
     contract_start contract_end price_id`,
  ),
];

export const DIRECT_REQUEST = [
  ...ORDER,
  ...CARD_ORDER,
  ...words('card expiration_month expiration_year security_code accept'),
];

export const HOSTED_REQUEST = [...ORDER, ...CARD_ORDER];

export const APM_REQUEST = [
  ...ORDER,
  ...words('payment_method delivery_district_name delivery_street_name return_url bank_code'),
  ...under(
    'person.',
    `document_number document_type social_name email phone_country_code phone_area_code phone_number
     birth_date net_monthly_average_income address_street address_number address_complement
     address_postal_code address_city address_state address_country fiscal_country`,
  ),
  ...under('person.documents.', 'file_type file_data file_url'),
  'person.documents.labels.person_bank_account_id',
  ...under(
    'person.documents.labels.bank_account.',
    `account_type account_number branch_number owner_document_number owner_name branch_country
     currency`,
  ),
  ...under('person.documents.labels.bank_account.bank.', 'code name'),
];

export const PAYOUT_REQUEST = [
  ...words(`beneficiary_id client_data fee_paid_by payment_amount payment_currency payment_date
    payment_method reason reference request_id source_amount source_currency swift_charge_option
    fund_source notify_url`),
  ...under(
    'beneficiary.additional_info.',
    `business_area business_phone_number business_registration_number personal_email
     personal_id_number personal_id_type personal_mobile_number personal_net_monthly_average_income
     personal_phone_country_code personal_phone_area_code personal_fiscal_country`,
  ),
  ...under(
    'beneficiary.address.',
    'city country_code postcode state street number street_address complement',
  ),
  ...under('beneficiary.person_documents[].', 'file_type file_url labels[]'),
  ...under(
    'beneficiary.bank_details.',
    `account_currency account_name owner_document_number account_number bank_account_category
     bank_branch bank_country_code bank_code bank_name bank_street_address binding_mobile_number
     iban swift_code transaction_reference`,
  ),
  ...under('beneficiary.', 'company_name date_of_birth entity_type first_name last_name'),
  ...under(
    'payer.additional_info.',
    `business_registration_number business_registration_type external_id personal_email
     personal_id_number job`,
  ),
  ...under('payer.address.', 'city country_code postcode state street_address'),
  ...under('payer.', 'company_name date_of_birth entity_type first_name last_name'),
];

/** Elements of `respon` of a direct payment. */
export const DIRECT_ANSWER = [
  ...words(`merchant_id account_id order_no amount currency transaction_id
    card order_status result_info contract_name recurring_id recurring_deduction_period
    recurring_deduction_time note token_id connector threeds_result risk_action risk_score
    encryption_data`),
  ...under('risk_reasons[].', 'name status'),
];

/** Elements of `respon` of an alternative payment method. */
export const APM_ANSWER = words('merchant_id account_id order_no amount currency issuer_url');

/** What the answer to a payout adds to the echo of its request. */
export const PAYOUT_ANSWER = words(`amount_beneficiary_receives amount_payer_pays created_at
  last_updated_at failure_reason failure_type fee_amount fee_currency payer_id transaction_id
  short_reference_id status`);

/** The echo with it: bank_details has one field more than the request, and lacks one. */
export const PAYOUT_ANSWER_WHOLE = [
  ...[...IDS, 'encryption_data', ...PAYOUT_ANSWER],
  ...PAYOUT_REQUEST.filter((path) => path !== 'beneficiary.bank_details.bank_code'),
  'beneficiary.bank_details.local_clearing_system',
];

/** The web site of an entry is the profile's siteField. */
export const QUERY_ANSWER = [
  ...[...IDS, ...words('return_status return_message')],
  ...under(
    'orders_list[].',
    `amount currency antifraud_provider is3ds order_no payment_status query_result reference_no
     shopper_email shopper_phone transaction_date transaction_id`,
  ),
  'orders_list[].the service',
  ...under(
    'orders_list[].delivery_information.',
    `delivery_address delivery_city delivery_country delivery_firstname delivery_lastname
     delivery_postal_code delivery_state`,
  ),
  ...under('orders_list[].fraud_check_result[].', 'check_items status'),
  ...under(
    'orders_list[].subscription_result.',
    `contract_name recurring_deduction_period recurring_deduction_time recurring_id
     recurring_status`,
  ),
];

/** Batch operations: request entry, result entry. */
export const BATCHES: Record<string, { path: string; max: number; sent: string[]; got: string[] }> =
  {
    capture: {
      path: '/v1/capture',
      max: 50,
      sent: words('transaction_id order_no currency amount'),
      got: words('amount capture_status currency error_message order_no transaction_id'),
    },
    review: {
      path: '/v1/review',
      max: 100,
      sent: words('transaction_id order_no currency amount review_flag'),
      got: words('amount currency error_message order_no review_flag review_status transaction_id'),
    },
    cancel: {
      path: '/v1/cancel',
      max: 50,
      sent: words('transaction_id order_no currency amount'),
      got: words('amount cancel_status currency error_message order_no transaction_id'),
    },
    refund: {
      path: '/v1/refund',
      max: 50,
      sent: words('transaction_id order_no currency amount refund_amount refund_reason'),
      got: words(`amount currency order_no refund_amount refund_message refund_reason
        refund_reference refund_reference_id refund_status transaction_id`),
    },
  };

/** The fixed hidden inputs of the hosted page's form. */
export const FIXED_INPUTS = words(`gbc_id connector_code account_name webSite pm_id apm_type
  descriptor orderprefix rrtimezone ordernumlength sendbgoods replacename send_bank_website
  replace_up_id replace_match_address to_pass_page`);

/** Those of which the document says that a script of the page adds them; it names these. */
export const SCRIPT_INPUTS = words(`merNo orderNo orderAmount orderCurrency signInfo notifyUrl
  returnUrl cancelUrl goodsInfo shipFee gatewayNo defaultLang isOpen3D source_request_ip
  verifyBillingAddress merSendLogoNo allParams`);

/** What a batch answer has beside its entries. */
export const BATCH_ANSWER = [...IDS, ...words('encryption_data return_status return_message')];

/** Fields of answers that nobody takes up, and why; the table of docs/GATEWAY.md says it, too. */
export const NOT_TAKEN_UP: Record<string, string> = {
  'a payout: encryption_data':
    'the document lets answers of batches and of direct payments bear a signature; whether this ' +
    'one is the echo of ours or one of its own is not shown',
};
