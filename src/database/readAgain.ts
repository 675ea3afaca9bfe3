// Rows that are gone through more than once: few are kept from the first time, many are read again,
// so that memory stays flat. Who needs the same ones each time reads them of one snapshot (db.ts).

/** About two megabytes; the breaks of an ordinary night, and what moved in it. */
const ROWS_KEPT_MAX = 2_500;

/** Reads the rows each time it is called, or once where they are few. */
export function readAgain<R>(
  read: () => AsyncIterable<R[]>,
  keptMax = ROWS_KEPT_MAX,
): () => AsyncIterable<readonly R[]> {
  let kept: R[][] | null = null;
  return async function* () {
    if (kept !== null) {
      yield* kept;
      return;
    }
    let keeping: R[][] | null = [];
    let rows = 0;
    for await (const chunk of read()) {
      rows += chunk.length;
      if (rows > keptMax) keeping = null;
      keeping?.push(chunk);
      yield chunk;
    }
    kept = keeping;
  };
}
