// Long reads one after the other: the next is begun as soon as the first has brought something, so
// that the server works out its first rows while those before are worked through. What nobody takes
// yet waits in the server's buffers, so memory stays flat. Neighbour: db.ts makes the reads.

/** A read under way; it is ended by whoever stops before its end. */
interface Begun<T> {
  first: Promise<IteratorResult<T>>;
  rows: AsyncIterator<T>;
}

/** A read that is begun before anybody takes from it; whoever began it ends it in any case. */
export function readAhead<T>(read: AsyncIterable<T>): {
  rows: AsyncIterable<T>;
  end: () => Promise<void>;
} {
  const begun = begin(() => read);
  return { rows: readOn(begun), end: () => end(begun) };
}

async function* readOn<T>(begun: Begun<T> | null): AsyncGenerator<T> {
  if (begun === null) return;
  for (let step = await begun.first; step.done !== true; step = await begun.rows.next()) {
    yield step.value;
  }
}

/** What all reads bring, in their order. */
export async function* readInTurn<T>(
  reads: readonly (() => AsyncIterable<T>)[],
): AsyncGenerator<T> {
  let now = begin(reads[0]);
  let coming: Begun<T> | null = null;
  try {
    for (let at = 1; now !== null; at += 1) {
      let step = await now.first;
      coming = begin(reads[at]);
      for (; step.done !== true; step = await now.rows.next()) yield step.value;
      now = coming;
      coming = null;
    }
  } finally {
    // Both where somebody stops early or one fails; neither where all came to their end.
    await end(now);
    await end(coming);
  }
}

function begin<T>(read: (() => AsyncIterable<T>) | undefined): Begun<T> | null {
  if (read === undefined) return null;
  const rows = read()[Symbol.asyncIterator]();
  const first = rows.next();
  // Whoever gets there hears why it failed.
  first.catch(() => {});
  return { first, rows };
}

async function end<T>(begun: Begun<T> | null): Promise<void> {
  await begun?.rows.return?.();
}
