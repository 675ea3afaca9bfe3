// `tieout run --dry-run` before anything is allowed to be sent: it lists order by order what a night
// would do, says on standard output that nothing was done, and uses up no number.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { moneyIn } from '../../src/core/text/amounts.js';
import { tieoutHere } from '../support/cliHere.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

let house: SeparateHouse;
beforeAll(async () => {
  house = await buildSeparateHouse({ orders: 300, seed: 3 });
});
afterAll(() => house.end());

const NUMBERS = `select sequencename as name, coalesce(last_value, 0) as last from pg_sequences
  where schemaname = 'tieout' and sequencename ~ '^(instructions|instruction_events|breaks|break_e)'
  order by 1`;

describe('a dry run', () => {
  it('lists what a night would do, and does nothing', async () => {
    const before = (await house.db.query(NUMBERS)).rows;
    expect(before).toHaveLength(4);
    const shown = await tieoutHere(['run', '--dry-run'], { cwd: house.folder });
    expect(shown.stdout).toContain('DRY RUN: nothing was sent, nothing was kept.');
    const json = await tieoutHere(['run', '--dry-run', '--json'], { cwd: house.folder });
    const { wouldDo = [] } = JSON.parse(json.stdout) as RunSummary;
    expect(wouldDo.length).toBeGreaterThan(5);
    for (const one of wouldDo) {
      const line = shown.stdout.split('\n').find((text) => text.includes(` ${one.orderNo} `)) ?? '';
      expect(line).toContain(one.operation);
      expect(line).toContain(` ${moneyIn(one.amount, one.currency)}`);
    }
    const csv = await tieoutHere(['run', '--dry-run', '--format', 'csv'], { cwd: house.folder });
    const lines = csv.stdout.trim().split(/\r?\n/);
    expect(lines[0]).toBe(
      'account_id,operation,order_no,refund_id,amount,currency,next,reason,done',
    );
    expect(lines.slice(1)).toHaveLength(wouldDo.length);
    expect(lines.slice(1).every((line) => line.endsWith(',no'))).toBe(true);
    expect(csv.stderr).toContain('nothing was sent');
    expect((await house.db.query(NUMBERS)).rows).toEqual(before);
    expect(await house.effects()).toEqual([]);

    const real = JSON.parse((await tieoutHere(['run', '--json'], { cwd: house.folder })).stdout);
    expect(real).not.toHaveProperty('wouldDo');
    const { rows } = await house.db.query<{ operation: string; order_no: string }>(
      'select operation, order_no from tieout.instructions order by order_no',
    );
    const planned = wouldDo.map(({ operation, orderNo }) => ({ operation, order_no: orderNo }));
    expect(planned.sort((a, b) => (a.order_no < b.order_no ? -1 : 1))).toEqual(rows);
    const { rows: first } = await house.db.query<{ id: bigint }>(
      'select min(instruction_id) as id from tieout.instructions',
    );
    expect(Number(first[0]?.id)).toBe(Number(before[3]?.last ?? 0) + 1);
  });

  it('is where --format belongs', async () => {
    const ended = await tieoutHere(['run', '--format', 'csv'], { cwd: house.folder });
    expect(ended.code).toBe(2);
  });
});
