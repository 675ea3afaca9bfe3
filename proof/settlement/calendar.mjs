// Days, fees and texts of money as the oracle works them out for itself: nothing here is the
// program's. Amounts are bigint hundredths.

/** What the configuration of the oracle's merchant says; Berlin is an hour ahead in November. */
export const SETTINGS = {
  from: '2026-11-02',
  cutOff: '02:00',
  timezone: 'Europe/Berlin',
  settleDays: 3,
  holidays: ['2026-11-11'],
};
const CUT_OFF_BEHIND_UTC_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Business dates of the nights; what a stage brings lies after the night before it. */
export const NIGHTS = ['2026-11-12', '2026-11-19', '2026-11-26'];

export function dayAfter(date, days) {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

export function businessDateOf(at) {
  return new Date(Date.parse(at) - CUT_OFF_BEHIND_UTC_MS).toISOString().slice(0, 10);
}

/** Were `settleDays` working days over at the end of `night`? */
export function isOverdue(date, night) {
  let [left, at] = [SETTINGS.settleDays, date];
  while (left > 0) {
    at = dayAfter(at, 1);
    const weekday = new Date(at).getUTCDay();
    if (weekday > 0 && weekday < 6 && !SETTINGS.holidays.includes(at)) left -= 1;
  }
  return at <= night;
}

/** Two rates: the second one holds from its date on. */
export const TARIFF = [
  { from: SETTINGS.from, millionths: 14_000n, fixed: { EUR: 25n, USD: 30n, JPY: 1_000n } },
  { from: '2026-11-16', millionths: 9_900n, fixed: { EUR: 10n, KWD: 7n } },
];
export const TOLERANCE = 1n;

/** In the currency that is settled, half away from zero. */
export function agreedFee(gross, currency, bookedAt) {
  const on = businessDateOf(bookedAt);
  const { millionths, fixed } = TARIFF.findLast(({ from }) => from <= on) ?? TARIFF[0];
  const size = gross < 0n ? -gross : gross;
  const whole = size * millionths + (fixed[currency] ?? 0n) * 1_000_000n;
  const step = currency === 'JPY' ? 100_000_000n : 1_000_000n;
  const steps = (2n * whole + step) / (2n * step);
  return (steps * step) / 1_000_000n;
}

export function sizeOf(amount) {
  return amount < 0n ? -amount : amount;
}

export function textOf(amount) {
  const digits = String(sizeOf(amount)).padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
