// For tests in which one thing happens only when another one has begun.

/** A promise with its ends outside. */
export function latch(): { promise: Promise<void>; open: () => void } {
  let open = (): void => {};
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}
