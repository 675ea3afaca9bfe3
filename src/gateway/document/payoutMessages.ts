// The payout of the gateway (/v1/payout), request and answer, with every field that its document
// prints. Shapes only; payoutShapes.ts holds them to types, preparePayout.ts builds and reads. The
// ids and the signature are added when the message is built. Which fields are required is not
// shown; required here is what a payout cannot be signed or recognised without.

/** Amounts are integer-looking; whether in major or minor units is the profile's `payout.unit`. */
export interface Payout {
  /** UUID shape; the merchant's own id of the payout. Nothing is promised about repeats. */
  request_id: string;
  /** Integer-looking, in payment_currency. */
  payment_amount: string;
  /** Currency code. */
  payment_currency: string;
  beneficiary?: Beneficiary;
  beneficiary_id?: string;
  /** The merchant's own text, passed through. */
  client_data?: string;
  /** Sample `PAYER`; other values are not shown. */
  fee_paid_by?: string;
  payer?: Payer;
  /** YYYY-MM-DD. */
  payment_date?: string;
  /** Sample `SWIFT`; other values are not shown. */
  payment_method?: string;
  reason?: string;
  reference?: string;
  source_amount?: string;
  /** Currency code. */
  source_currency?: string;
  /** Sample `SHARED`; other values are not shown. */
  swift_charge_option?: string;
  /** Sample `DepositAccount`; other values are not shown. */
  fund_source?: string;
  /** Where the result is sent; what is sent there is not shown ("Events" 2, 3). */
  notify_url?: string;
}

/** Who is paid. */
export interface Beneficiary {
  additional_info?: {
    business_area?: string;
    business_phone_number?: string;
    business_registration_number?: string;
    personal_email?: string;
    personal_id_number?: string;
    personal_id_type?: string;
    personal_mobile_number?: string;
    personal_net_monthly_average_income?: string;
    personal_phone_country_code?: string;
    personal_phone_area_code?: string;
    personal_fiscal_country?: string;
  };
  address?: {
    city?: string;
    country_code?: string;
    postcode?: string;
    state?: string;
    street?: string;
    number?: string;
    street_address?: string;
    complement?: string;
  };
  person_documents?: PersonDocument[];
  bank_details?: BankDetails;
  company_name?: string;
  /** YYYY-MM-DD. */
  date_of_birth?: string;
  /** Sample `COMPANY`; other values are not shown. */
  entity_type?: string;
  first_name?: string;
  last_name?: string;
}

export interface PersonDocument {
  file_type?: string;
  file_url?: string;
  labels?: string[];
}

export interface BankDetails {
  account_currency?: string;
  account_name?: string;
  owner_document_number?: string;
  account_number?: string;
  /** In the sample a list with commas. */
  bank_account_category?: string;
  bank_branch?: string;
  bank_country_code?: string;
  /** Not in the answer. */
  bank_code?: string;
  bank_name?: string;
  bank_street_address?: string;
  binding_mobile_number?: string;
  iban?: string;
  swift_code?: string;
  transaction_reference?: string;
}

/** Who pays. */
export interface Payer {
  additional_info?: {
    business_registration_number?: string;
    business_registration_type?: string;
    external_id?: string;
    personal_email?: string;
    personal_id_number?: string;
    job?: string;
  };
  address?: {
    city?: string;
    country_code?: string;
    postcode?: string;
    state?: string;
    street_address?: string;
  };
  company_name?: string;
  /** YYYY-MM-DD. */
  date_of_birth?: string;
  entity_type?: string;
  first_name?: string;
  last_name?: string;
}

/**
 * What the answer adds to the echo of the request, in which bank_details lacks bank_code and has
 * one field more. Amounts are numbers on the wire; here their exact digits.
 */
export interface PayoutRecord {
  amount_beneficiary_receives: string | null;
  amount_payer_pays: string | null;
  /** YYYY-MM-DDThh:mm:ss+hhmm. */
  created_at: string | null;
  last_updated_at: string | null;
  failure_reason: string | null;
  /** Its values are not shown. */
  failure_type: string | null;
  fee_amount: string | null;
  fee_currency: string | null;
  payer_id: string | null;
  /** The gateway's own id of the payout. */
  transaction_id: string | null;
  /** YYYYMMDD-<six characters>. */
  short_reference_id: string | null;
  /** `COMPLETED` is shown; other values are not. */
  status: string | null;
  /** Of the beneficiary's bank_details: how the money travels in that country. */
  local_clearing_system: string | null;
}
