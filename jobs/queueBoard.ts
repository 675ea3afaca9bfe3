// The board of bull-board over our queues, for those who know it: read only, so that nothing on it
// can repeat a job. It owns the library and nothing else; who may see it is decided by whoever
// mounts it. Neighbour: failed.ts is the list that people should use.

import { createBullBoard } from '@bull-board/api';
import type { BaseAdapter } from '@bull-board/api/baseAdapter';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { QUEUES } from '../src/core/queuePort.js';
import type { Queues } from './queues.js';

type BoardQueue = ConstructorParameters<typeof BullMQAdapter>[0];

/** A plugin for the web server, to be mounted under `basePath`. */
export function boardOf(queues: Queues, basePath: string) {
  const adapter = new FastifyAdapter();
  adapter.setBasePath(basePath);
  const shown: BaseAdapter[] = QUEUES.map((name) => {
    // Our table of queues names only the few methods that tieout calls.
    const queue = queues.inside.byName[name] as unknown as BoardQueue;
    return new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false });
  });
  createBullBoard({
    queues: shown,
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'tieout queues', hideRedisDetails: true } },
  });
  return adapter.registerPlugin();
}
