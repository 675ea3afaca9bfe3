// What of a text from outside a database can hold: no half of a character, which a cut between its
// two units leaves, and no NUL. In a JSON parameter one such text has the whole statement refused,
// with all that stands beside it. Whatever is cut to be kept or told is cut here. Pure.

/** The beginning of a text, cut within no character; what no database holds is a mark in it. */
export function cutText(text: string, lengthMax: number): string {
  return text
    .slice(0, lengthMax)
    .replace(/\p{Cs}$/u, '')
    .replace(/\p{Cs}/gu, MARK)
    .replaceAll('\0', MARK);
}

/** Whether a database holds the text as it is. */
export function isHeldText(text: string): boolean {
  return cutText(text, text.length) === text;
}

/** Unicode's own; COPY writes the same. */
const MARK = '\ufffd';

/** Control characters, and halves of characters. */
const NOT_IN_IDS = /[\p{Cc}\p{Cs}]/u;
/** An index holds no longer one; the ledger's door has the same bound (tieout.id_problem). */
const ID_BYTES_MAX = 512;

/** An id as it is, or null: one that is cut or cleaned would name another thing. */
export function heldId(id: string | null): string | null {
  if (id === null || NOT_IN_IDS.test(id)) return null;
  const isShort = id.length <= ID_BYTES_MAX / 4 || Buffer.byteLength(id) <= ID_BYTES_MAX;
  return isShort ? id : null;
}
