// Storing pages beside only reading and encoding them: with JSON.parse, as little as a thread can do
// with a body, and as the program does it, shapes and dates checked; and with the raw bodies beside
// without. All sides begin with the same bodies in memory, as bytes. Neighbour: sets.mjs.

import { sandboxProfile } from '../dist/src/gateway/document/profile.js';
import { decodeQueryAnswer } from '../dist/src/gateway/query/decode.js';
import { storedBody } from '../dist/src/pull/askPage.js';
import { commitChunk, createPull } from '../dist/src/pull/snapshot/snapshotsStore.js';
import { snapshotLines } from '../dist/src/pull/snapshotLines.js';
import { inTurns, line, ratiosOf, timed } from './stats.mjs';

const PROFILE = sandboxProfile();

/** What the program makes of a page; `raw` says what it keeps of the body. */
export function storedPage({ chunk, account }, { asked, body }, raw = storedBody) {
  const { entries } = decodeQueryAnswer(account, { status: 200, body });
  const { text, unasked } = snapshotLines(PROFILE, chunk, asked, entries);
  return {
    pageNo: asked.pageNo,
    orders: asked.orderNos.length,
    attempts: 1,
    reason: null,
    answered: { at: new Date(), entries: entries.length, unasked, copyText: text, ...raw(body) },
  };
}

const noRaw = () => ({ bodySha256: '', bodyGzip: Buffer.alloc(0) });

export async function store(db, held, make) {
  await commit(
    db,
    held,
    held.pages.map((page) => make(held, page)),
  );
}

async function commit(db, { chunk, token }, pages) {
  if (!(await commitChunk(db, chunk, token, pages))) throw new Error('lost the chunk');
}

export async function ingestLines(bench, held) {
  const storing = (raw) => () =>
    timed(async () => storeInTurn(bench.db, await againFor(bench, held), raw));
  const found = await inTurns(bench.rounds + 1, {
    parse: () =>
      timed(() => {
        for (const of of held) for (const page of of.pages) parsedText(of, page);
      }),
    encode: () =>
      timed(() => {
        for (const of of held) for (const page of of.pages) storedPage(of, page, noRaw);
      }),
    plain: storing(noRaw),
    raw: storing(storedBody),
  });
  const [parse, encode, plain, raw] = Object.values(found).map((one) => one.slice(1));
  return [
    line('ingest: of JSON.parse and encoding only', ratiosOf(parse, plain, 'wall'), {
      atLeast: 0.75,
    }),
    line('ingest: the same by the processor time of the program', ratiosOf(parse, plain, 'cpu')),
    line(
      "ingest: of the program's own reading and encoding only",
      ratiosOf(encode, plain, 'wall'),
      {
        atLeast: 0.75,
      },
    ),
    line('ingest: that by the processor time of the program', ratiosOf(encode, plain, 'cpu')),
    line('ingest with the raw pages: of that without', ratiosOf(plain, raw, 'wall'), {
      atLeast: 0.55,
    }),
  ];
}

/**
 * The least that one thread does with a body: JSON.parse, and each entry's columns as text for COPY.
 * No shape is checked, no date, no state, no second entry; where the program writes what it made of
 * a value, this writes the value.
 */
function parsedText({ chunk }, { asked, body }) {
  const prefix = `${chunk.pullId}\t${chunk.accountId}\t${asked.pageNo}\t`;
  let text = '';
  let position = 0;
  for (const one of JSON.parse(body.toString()).orders_list) {
    const columns = `${position++}\t${escaped(one.order_no)}\tf\tt\t${escaped(one.transaction_id)}`;
    const money = `${escaped(one.currency)}\t${escaped(one.amount)}\t\\N`;
    const status = escaped(one.payment_status);
    const date = escaped(one.transaction_date);
    text += `${prefix}${columns}\t${money}\t${status}\t${status}\tt\t${escaped(one.query_result)}\t`;
    text += `${date}\t${date}\t${escaped(one.reference_no)}\tf\n`;
  }
  return text;
}

const SPECIAL = /[\\\t\n\r]/;

function escaped(value) {
  if (value === undefined || value === null) return '\\N';
  if (!SPECIAL.test(value)) return value;
  const escapes = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };
  return value.replace(/[\\\t\n\r]/g, (char) => escapes[char]);
}

/** As the program does it: a chunk is stored while the pages of the next one come in. */
async function storeInTurn(db, chunks, raw) {
  let storing = Promise.resolve();
  for (const chunk of chunks) {
    const pages = [];
    for (const page of chunk.pages) {
      pages.push(storedPage(chunk, page, raw));
      await new Promise(setImmediate);
    }
    await storing;
    storing = commit(db, chunk, pages);
  }
  await storing;
}

/** The same pages once more, as chunks of a pull of their own. */
async function againFor({ db, runId }, held) {
  const pull = await createPull(db, runId, 'fresh');
  const chunks = [];
  for (const { chunk, ...rest } of held) {
    const { rows } = await db.query(
      `insert into tieout.chunks (pull_id, account_id, first_page, last_page, state, token,
         leased_until)
       values ($1, $2, $3, $4, 'running', $5, clock_timestamp() + interval '1 hour')
       returning chunk_id`,
      [pull.pullId, chunk.accountId, chunk.firstPage, chunk.lastPage, rest.token],
    );
    chunks.push({ ...rest, chunk: { ...chunk, pullId: pull.pullId, chunkId: rows[0].chunk_id } });
  }
  return chunks;
}
