// An international bank account number: its check digits tell it from other digits. Pure.

/** Whether the check digits of an IBAN fit (ISO 7064, mod 97-10). */
export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text)) return false;
  const turned = text.slice(4) + text.slice(0, 4);
  const digits = [...turned].map((one) => Number.parseInt(one, 36)).join('');
  return BigInt(digits) % 97n === 1n;
}
