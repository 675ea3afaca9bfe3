// Instants that stand in a sentence, for who reads it: in the schedule's zone, which is named. The
// sentences themselves keep UTC, as records do. The same for the terminal, the console, sheets and
// messages. Pure.

/** An instant as JSON and sentences have it: to the minute, the second or less, in UTC. */
const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(?:\.\d{1,6})?(?:Z|\+00:00)(?!\w|:\w)/;

/** What a sentence quotes stands so in a file, or is to be typed so: it stays as it is. */
const QUOTED = /"(?:[^"\\\n]|\\.)*"/;
const QUOTED_OR_INSTANT = new RegExp(`${QUOTED.source}|${INSTANT.source}`, 'g');

/** 2026-11-20T03:15:00Z is 2026-11-20 04:15:00 Europe/Berlin; dates stay as they are. */
export function withZonedTimes(text: string, zone: string): string {
  return text.replaceAll(QUOTED_OR_INSTANT, (instant, seconds: string | undefined) => {
    if (instant.startsWith('"')) return instant;
    const at = new Date(instant);
    if (Number.isNaN(at.getTime())) return instant;
    const timeStyle = seconds === undefined ? 'short' : 'medium';
    return `${clockOf(zone, timeStyle).format(at)} ${zone}`;
  });
}

/** Making a clock costs more than a list of times. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string, timeStyle: 'short' | 'medium'): Intl.DateTimeFormat {
  const key = `${timeStyle} ${timeZone}`;
  const made =
    clocks.get(key) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle });
  clocks.set(key, made);
  return made;
}
