// Whether the configuration lets anything be sent of an account now: of one that is only observed,
// or that it does not name, nothing is, whatever was approved before. Pure: the moment is given.

export interface LiveFrom {
  accountId: string;
  /** null: the account is only observed */
  liveFrom: Date | null;
}

/** Until then the account is only observed, as one without a liveFrom is. */
export function isAhead(liveFrom: Date | null, at: Date): liveFrom is Date {
  return liveFrom !== null && liveFrom > at;
}

/** Why an account is only observed; null: it is live. */
export function observedWords(liveFrom: Date | null, at: Date): string | null {
  return liveFrom === null || isAhead(liveFrom, at) ? observedSentence(liveFrom) : null;
}

/** Of one that is. */
export function observedSentence(liveFrom: Date | null): string {
  return liveFrom === null
    ? 'only observed, nothing is sent until accounts[].liveFrom is set'
    : `only observed until its liveFrom, which lies ahead: ${liveFrom.toISOString()}`;
}

/** Why the configuration with these accounts sends nothing of one now; null: it may send. */
export function unsentWords(
  accountId: string,
  accounts: readonly LiveFrom[],
  at: Date,
): string | null {
  const account = accounts.find((one) => one.accountId === accountId);
  if (account === undefined) {
    return (
      `account ${accountId} is not in this configuration: what is approved of it is sent only ` +
      'by one that has it'
    );
  }
  const observed = observedWords(account.liveFrom, at);
  return observed === null ? null : `the account is ${observed}`;
}
