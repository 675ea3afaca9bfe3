// What the books of a wave reached, counted by name.

export function countBooks(tally, { instructions, events, effects, attempts }) {
  tally.add('instructions', instructions.length);
  tally.add('effects', effects.filter(({ request }) => !request.startsWith('portal.')).length);
  for (const { from, to } of events) if (from === 'unknown') tally.count(`unknown to ${to}`);
  for (const row of instructions) {
    tally.count(`ended ${row.state}`);
    const isPartial = row.operation === 'refund' && row.refund_amount !== row.amount;
    if (row.state === 'unknown' && isPartial) tally.count('a partial refund waits for a person');
  }
  for (const { outcome } of attempts) tally.count(`attempts ${outcome}`);
}
