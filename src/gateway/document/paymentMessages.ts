// The payment requests of the gateway with every field that its document prints: direct payment,
// alternative payment method (APM) and hosted page. Shapes only: nothing here decides or sends.
// The ids and the signature are added when a message is built (requests.ts). Which fields are
// required is not shown; only what every payment needs is required here (paymentShapes.ts).

/** Order, shopper and addresses: what all three kinds of payment can carry. */
export interface PaymentFields {
  /** The merchant's own number of the order. */
  order_no: string;
  /** Currency code, three letters. */
  currency: string;
  /** The total: digits, a point, two digits. */
  amount: string;
  /** Parts of the total, of the same shape as `amount` ("Direct payment request"). */
  item_total?: string;
  shipping?: string;
  handling?: string;
  tax_total?: string;
  insurance?: string;
  shipping_discount?: string;
  discount?: string;
  /** Records of four parts, `;` between records, `#,#` between parts, as the caller gives it. */
  items?: string;
  /** Free text. */
  note?: string;
  shopper_id?: string;
  shopper_email?: string;
  shopper_ip?: string;
  shopper_phone?: string;
  shopper_level?: string;
  /** Name of the cardholder; of the payer where there is no card. */
  first_name?: string;
  last_name?: string;
  /** Where the result is sent; what is sent there is not shown ("Events" 2, 3). */
  notify_url?: string;
  /** The shopper's document number. */
  document?: string;
  /** Sample shape DD-MM-YYYY. */
  birth_date?: string;
  billing_country?: string;
  billing_state?: string;
  billing_city?: string;
  billing_address?: string;
  billing_postal_code?: string;
  /** The shopper's device; `browser` is a user-agent string. */
  os?: string;
  browser?: string;
  browser_lang?: string;
  time_zone?: string;
  resolution?: string;
  color_depth?: string;
  /** Cookie strings. */
  cookie_new?: string;
  cookie_old?: string;
  delivery_firstname?: string;
  delivery_lastname?: string;
  delivery_country?: string;
  delivery_state?: string;
  delivery_city?: string;
  delivery_address?: string;
  delivery_postal_code?: string;
  /** The merchant's own text, passed through. */
  custom?: string;
  device_fingerprint?: string;
  /** Name of the e-commerce platform; allowed values are not shown. */
  platform_source?: string;
  /** Kind of device; allowed values are not shown. */
  device_type?: string;
}

/** What direct payment and hosted page carry beyond that, and an APM payment does not. */
export interface CardPaymentFields {
  /** The merchant's web site; its name on the wire is the profile's `siteField`. */
  site?: string;
  /** 3-D Secure switch; allowed values are not shown. */
  open3d?: string;
  /** Whether a card token is wanted; allowed values are not shown. */
  token_flag?: string;
  /** A card token that was issued before. */
  token_id?: string;
  user_agent?: string;
  /** Code of the size of the 3-D Secure window; allowed values are not shown. */
  challenge_window_size?: string;
  session_id?: string;
  installments?: string;
  installments_id?: string;
  /** Channel of the order; allowed values are not shown. */
  order_type?: string;
  /** Seconds since 1970, a number. */
  checkout_time?: number;
  /** The anti-fraud provider's cookie. */
  fraudprovider_token_cookie?: string;
  price_id?: string;
  quote_id?: string;
  quote_price?: string;
  storefront_domains?: string;
  cart_items?: CartItem[];
  account_owner?: AccountOwner[];
  total_discount?: TotalDiscount[];
  additional_information?: AdditionalInformation[];
  subscription?: Subscription;
}

/** `cart_items[]`: an object with this one key. */
export interface CartItem {
  basic_item_data: {
    name?: string;
    quantity?: string;
    type?: string;
    /** Numbers on the wire; written as given and never counted with. */
    price?: { amount_usd?: number; amount_local_currency?: number; currency?: string };
    category?: string;
    productId?: string;
  };
}

/** `account_owner[]`: the shopper's account at the merchant, for the anti-fraud check. */
export interface AccountOwner {
  first_name?: string;
  last_name?: string;
  email?: string;
  account_id?: string;
  /** Numbers; the unit of `created` is not shown. */
  created?: number;
  past_orders_count?: number;
  past_orders_sum?: number;
  lastLogin_ip?: string;
  registration_ip?: string;
}

export interface TotalDiscount {
  coupon_code_used?: string;
  discount_type?: string;
}

/** `additional_information[]`: results of a 3-D Secure check made elsewhere. */
export interface AdditionalInformation {
  mpi_info: { eci?: string; cavv?: string; xid?: string; dsTransID?: string };
}

/** The contract of a recurring payment. */
export interface Subscription {
  contract?: string;
  contract_name?: string;
  /** Decimal, of the shape of `amount`. */
  contract_amount?: string;
  /** Allowed values are not shown. */
  interval?: string;
  interval_count?: string;
  billing_cycle?: number;
  promotion_cycle?: number;
  contract_start?: string;
  contract_end?: string;
  price_id?: string;
}

/** POST /v1/authorise with the card itself. */
export interface DirectPayment extends PaymentFields, CardPaymentFields {
  /** Card number. It must never reach a log, a report or the database. */
  card?: string;
  expiration_month?: string;
  expiration_year?: string;
  /** It must never be kept at all. */
  security_code?: string;
  /** The browser's accept header. */
  accept?: string;
}

/** POST /v1/checkout: the shopper enters the card on the gateway's page. */
export interface HostedPayment extends PaymentFields, CardPaymentFields {
  /**
   * Where the shopper returns to. The document lists neither among the fields of the request;
   * "Events" 1 says that the redirect flow uses both.
   */
  return_url?: string;
  cancel_url?: string;
}

/** POST /v1/authorise with `payment_method` and without card fields ("Endpoints" 2). */
export interface ApmPayment extends PaymentFields {
  /** Selects the method; allowed values are not shown. */
  payment_method: string;
  delivery_district_name?: string;
  delivery_street_name?: string;
  /** Where the shopper returns to. */
  return_url?: string;
  /** Bank code of the method. */
  bank_code?: string;
  person?: PayerPerson;
}

/** `person`: details of the payer. */
export interface PayerPerson {
  document_number?: string;
  document_type?: string;
  social_name?: string;
  email?: string;
  phone_country_code?: string;
  phone_area_code?: string;
  phone_number?: string;
  birth_date?: string;
  net_monthly_average_income?: string;
  address_street?: string;
  address_number?: string;
  address_complement?: string;
  address_postal_code?: string;
  address_city?: string;
  address_state?: string;
  address_country?: string;
  fiscal_country?: string;
  documents?: {
    file_type?: string;
    file_data?: string;
    file_url?: string;
    labels?: { person_bank_account_id?: string; bank_account?: PersonBankAccount };
  };
}

export interface PersonBankAccount {
  account_type?: string;
  account_number?: string;
  branch_number?: string;
  owner_document_number?: string;
  owner_name?: string;
  branch_country?: string;
  currency?: string;
  bank?: { code?: string; name?: string };
}

/** The XML answer of /v1/authorise, read; null where an element is absent or empty. */
export interface PaymentAnswer {
  /** Echoed. */
  merchantId: string;
  accountId: string;
  orderNo: string;
  /** Echoed, as text. */
  amount: string;
  currency: string;
  transactionId: string | null;
  /** Masked by the gateway: first six and last four digits. */
  card: string | null;
  /** order_status; `1` is shown together with 0000. */
  orderStatus: string | null;
  /** The two halves of result_info, `<code>:<message>`. */
  resultCode: string | null;
  resultMessage: string | null;
  contractName: string | null;
  recurringId: string | null;
  recurringDeductionPeriod: string | null;
  /** Sample shape YYYY-MM-DD hh:mm:ss; its timezone is not shown. */
  recurringDeductionTime: string | null;
  note: string | null;
  /** Card token. */
  tokenId: string | null;
  /** Name of the payment connector. */
  connector: string | null;
  threedsResult: string | null;
  /** Decision of the anti-fraud check; `ACCEPT` is shown. */
  riskAction: string | null;
  /** what risk_action means by the profile; null: nothing that anybody knows */
  riskMeaning: string | null;
  riskScore: string | null;
  riskReasons: { name: string | null; status: string | null }[];
  /** APM only: requested once more, it leads the shopper to the issuer's page. */
  issuerUrl: string | null;
}
