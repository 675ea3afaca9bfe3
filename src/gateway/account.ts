// One merchant account as the gateway knows it, with the key that signs its messages.
// It must never be printed or logged whole: `signingKey` is a secret. Filled by the configuration,
// read by everything in this folder.

export interface Account {
  merchantId: string;
  accountId: string;
  signingKey: string;
  /** Before this moment requests are history; null: the account is only observed. */
  liveFrom: Date | null;
}
