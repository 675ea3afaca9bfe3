// A file that somebody put into the inbox: is it ready to be imported, and through which map? Pure:
// its facts in, the answer out. Neighbour: settlement/inbox.ts looks and moves.

/** A larger file is no settlement: it is refused unread. */
export const INBOX_FILE_BYTES_MAX = 1 << 30;
/** What lies there beyond it waits for the next look. */
export const INBOX_FILES_A_LOOK_MAX = 100;

export interface InboxFacts {
  readonly name: string;
  /** neither a folder nor a link, which nobody follows */
  readonly isPlain: boolean;
  readonly isFolder: boolean;
  readonly size: number;
  readonly modifiedMs: number;
}

/** Equal at two looks: nobody writes it any more. */
export function markOf({ size, modifiedMs }: Pick<InboxFacts, 'size' | 'modifiedMs'>): string {
  return `${size} ${modifiedMs}`;
}

/** Programs write under such a name, and give the file its own when it is whole. */
export function isLeftAlone({ name, isPlain }: InboxFacts): boolean {
  return !isPlain || name.startsWith('.') || name.toLowerCase().endsWith('.part');
}

/** The map of the first entry whose name fits; null: none does. */
export function mapFor(
  files: readonly { readonly match: string; readonly map: string }[],
  name: string,
): string | null {
  return files.find(({ match }) => fits(match, name))?.map ?? null;
}

/** `*` is any text, `?` any one character. */
function fits(match: string, name: string): boolean {
  const parts = [...match].map((one) => {
    if (one === '*') return '.*';
    return one === '?' ? '.' : `\\u{${one.codePointAt(0)?.toString(16)}}`;
  });
  return new RegExp(`^${parts.join('')}$`, 'su').test(name);
}
