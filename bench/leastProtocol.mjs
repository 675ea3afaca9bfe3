// The least that sending can be that can be asked afterwards what it did: each batch claimed on
// disk with its instructions and their trail, a line of a journal that waits for the disk, a fresh
// connection, the answer kept with what it made of each. Nothing of it weighs anything, no guard
// stands before it, nothing is enqueued, no canary goes first. Between the bare batches and the program
// it tells which part of the distance is the protocol's own. Neighbour: protocol.mjs runs it.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { Pool } from 'undici';

const TABLES = `
  create schema least;
  create table least.instructions (id bigint primary key, state text not null, attempt text,
    code text, at timestamptz) with (fillfactor = 50);
  create table least.attempts (id text primary key, state text not null, request bytea not null,
    answer bytea);
  create table least.events (id bigint generated always as identity primary key,
    instruction bigint not null, was text not null, became text not null,
    at timestamptz not null default clock_timestamp())`;

const CLAIM = `
  with attempt as (insert into least.attempts values ($1, 'open', $2)),
  claimed as (
    update least.instructions set state = 'sending', attempt = $1, at = clock_timestamp()
    where id = any ($3::bigint[]) and state = 'queued' returning id)
  insert into least.events (instruction, was, became) select id, 'queued', 'sending' from claimed`;

const RECORD = `
  with attempt as (
    update least.attempts set state = 'answered', answer = $2 where id = $1 and state = 'open'),
  recorded as (
    update least.instructions set state = 'accepted', code = '0000', at = clock_timestamp()
    where id = any ($3::bigint[]) and state = 'sending' returning id)
  insert into least.events (instruction, was, became)
  select id, 'sending', 'accepted' from recorded`;

/**
 * Milliseconds for all batches, `concurrency` at a time. Each is `{ prepared, entries }`: what
 * makes its request, and how many entries it has.
 */
export async function sendLeast({ place, batches, concurrency, client }) {
  await client.query(TABLES);
  const waiting = numbered(batches);
  const ids = waiting.flatMap((batch) => batch.ids);
  await client.query(`insert into least.instructions select unnest($1::bigint[]), 'queued'`, [ids]);
  await client.query('vacuum analyze least.instructions');
  const journal = await open(join(place.folder, 'least.journal'), 'a');
  const began = performance.now();
  const inTurn = async () => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      await sendOne({ place, client, journal }, batch);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, inTurn));
  const took = performance.now() - began;
  await journal.close();
  const { rows } = await client.query(
    `select count(*)::int as count from least.instructions where state = 'accepted'`,
  );
  if (rows[0].count !== ids.length) throw new Error(`${rows[0].count} of ${ids.length} were sent`);
  return took;
}

function numbered(batches) {
  let last = 0;
  return batches.map(({ prepared, entries }, number) => {
    const ids = Array.from({ length: entries }, () => ++last);
    return { attempt: `attempt ${number}`, prepared, ids };
  });
}

async function sendOne({ place, client, journal }, batch) {
  const { attempt, ids } = batch;
  const prepared = batch.prepared();
  const request = gzipSync(prepared.body, { level: constants.Z_BEST_SPEED });
  await client.query({ name: 'claim', text: CLAIM, values: [attempt, request, ids] });
  await journal.write(`${JSON.stringify({ attempt, ids, sha256: prepared.sha256 })}\n`);
  await journal.datasync();
  const http = new Pool(place.baseUrl, { connections: 1 });
  const { path, contentType, body } = prepared;
  const headers = { 'content-type': contentType };
  const answer = await http.request({ method: 'POST', path, headers, body });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  await http.close();
  await client.query({ name: 'record', text: RECORD, values: [attempt, bytes, ids] });
}
