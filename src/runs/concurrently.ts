// Two pieces of work at a time, where one core of the database would have nothing to do.

/** Both to their ends, also where one fails; answers the second. */
export async function concurrently<T>(other: Promise<unknown>, work: Promise<T>): Promise<T> {
  const [first, second] = await Promise.allSettled([other, work]);
  if (second.status === 'rejected') throw second.reason;
  if (first.status === 'rejected') throw first.reason;
  return second.value;
}
