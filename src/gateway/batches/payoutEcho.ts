// Holds what the answer to a payout echoes to what was asked. The document says that the answer
// echoes the request; a field that comes back otherwise means that another account, person or sum
// was understood, and nobody can say what was done. Names fields and never repeats their values.
// Pure. Neighbour: preparePayout.ts reads what the answer says beyond the echo.

/** Without these in the answer nobody can tell which payout it is about. */
const IDENTIFYING = [
  ...['merchant_id', 'account_id', 'request_id'],
  ...['payment_currency', 'payment_amount'],
] as const;

/** The gateway's own fields of the answer, and the signature of whoever speaks: no echo. */
const NOT_ECHOED: ReadonlySet<string> = new Set([
  'encryption_data',
  ...['amount_beneficiary_receives', 'amount_payer_pays', 'fee_amount', 'fee_currency'],
  ...['created_at', 'last_updated_at', 'failure_reason', 'failure_type', 'status'],
  ...['payer_id', 'transaction_id', 'short_reference_id'],
]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * The first field that is not what was sent, in words; null: all that came back is. What is absent
 * or null was not echoed, and what was never sent the gateway knows from elsewhere.
 */
export function payoutDifference(sent: Fields, answer: Fields): string | null {
  const missing = IDENTIFYING.find((name) => !Object.hasOwn(answer, name));
  const asked = Object.fromEntries(
    Object.entries(sent).filter(([name]) => !NOT_ECHOED.has(name) && isEchoed(answer, name)),
  );
  const path = missing ?? differing(asked, answer, '');
  return path === null ? null : `${path} is not what was sent`;
}

function isEchoed(answer: Fields, name: string): boolean {
  return IDENTIFYING.some((one) => one === name) || at(answer, name) != null;
}

/** The path of the first part that differs; null: none does. */
function differing(sent: unknown, found: unknown, path: string): string | null {
  if (Array.isArray(sent)) {
    if (!Array.isArray(found) || found.length !== sent.length) return path;
    return first(sent.map((one, index) => differing(one, found[index], `${path}[${index}]`)));
  }
  if (sent !== null && typeof sent === 'object') {
    if (found === null || typeof found !== 'object' || Array.isArray(found)) return path;
    const parts = Object.entries(sent).filter(
      ([name]) => path === '' || at(found as Fields, name) != null,
    );
    return first(
      parts.map(([name, part]) =>
        differing(part, at(found as Fields, name), path === '' ? name : `${path}.${name}`),
      ),
    );
  }
  return found === sent ? null : path;
}

function at(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function first(paths: readonly (string | null)[]): string | null {
  return paths.find((path) => path !== null) ?? null;
}
