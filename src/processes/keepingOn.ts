// Work that is done now and then beside other work of this process, until that has ended.

/**
 * Does it again and again until told to stop, whether it fails or not. One at a time, or a database
 * that hangs would see them pile up.
 */
export function keepingOn(work: () => Promise<unknown>, everyMs: number): () => void {
  let isAtIt = false;
  const timer = setInterval(() => {
    if (isAtIt) return;
    isAtIt = true;
    work()
      .catch(() => {})
      .finally(() => {
        isAtIt = false;
      });
  }, everyMs);
  return () => clearInterval(timer);
}
