// Rows of many accounts, told account by account. Pure.

/** What `say` makes of the rows of each account, in the order in which the accounts come. */
export function ofEachAccount<Row extends { accountId: string }, Said>(
  rows: readonly Row[],
  say: (accountId: string, own: readonly Row[]) => Said,
): Said[] {
  return [...new Set(rows.map(({ accountId }) => accountId))].map((accountId) =>
    say(
      accountId,
      rows.filter((one) => one.accountId === accountId),
    ),
  );
}
