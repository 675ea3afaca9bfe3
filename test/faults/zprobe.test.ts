import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { startTieout, tieout } from '../support/cli.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

it('probe', { timeout: 200_000 }, async () => {
  const house = await buildSeparateHouse({ orders: 1500, seed: 77 });
  for (const ms of [300, 800, 1200]) {
    const t = Date.now();
    const run = startTieout(['run', '--json'], { cwd: house.folder });
    await run.says('business date');
    console.log('began after', Date.now() - t);
    await sleep(ms);
    run.signal('SIGKILL');
    console.log((await run.ended).stderr);
    const c = await house.db.query('select state, count(*) from tieout.chunks group by 1');
    const b = await house.db.query('select state, count(*) from tieout.batches group by 1');
    const j = await house.db.query("select * from bullmq.dedup").catch((e) => e.message);
    void c; void b; void j;
  }
  let over = false;
  const seen = new Set<string>();
  const poll = (async () => {
    while (!over) {
      const a = await house.db.query("select left(query, 3000) q, clock_timestamp() - query_start as d, wait_event from pg_stat_activity where state='active' and datname=current_database() and clock_timestamp() - query_start > '1 s' and pid<>pg_backend_pid()");
      for (const r of a.rows) { const k = String(r.q).slice(0, 60); if (!seen.has(k)) { seen.add(k); console.log(r.q, r.d, r.wait_event); } }
      await sleep(300);
    }
  })();
  const { stderr } = await tieout(['run', '--json'], { cwd: house.folder });
  over = true; await poll;
  console.log(stderr);
  await house.end();
});
