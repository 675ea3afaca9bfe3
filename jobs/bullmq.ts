// BullMQ, loaded by require: it is CommonJS in 171 files, and an import looks through each of them
// for names before it runs one, which takes longer than running them. Neighbours: queues.ts,
// worker.ts, redis.ts, postgres.ts.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const {
  assertSchemaCompatibility,
  createPostgresBackend,
  Queue,
  runMigrations,
  SchemaMigrationRequiredError,
  UnrecoverableError,
  withBackend,
  Worker,
} = require('bullmq') as typeof import('bullmq');
