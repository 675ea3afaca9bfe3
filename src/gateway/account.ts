// One merchant account as the gateway knows it, with the key that signs its messages.
// It must never be printed or logged whole: its keys are secrets. Filled by the configuration,
// read by everything in this folder.

export interface Account {
  merchantId: string;
  accountId: string;
  signingKey: string;
  /** The key before: signs nothing, and is known where an answer still bears it. */
  previousSigningKey?: string | null;
  /** Before this moment requests are history; null: the account is only observed. */
  liveFrom: Date | null;
}
