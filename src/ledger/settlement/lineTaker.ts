// Brings checked lines of the acquirer to where they stay while the next are read: those of batches
// that are new under ids of their own, those of batches that were taken before aside, where they
// are compared. It holds no more than the text that is about to go, and a few words of each batch.
// Neighbours: importSettlement.ts reads and judges, takenLinesStore.ts has the statements.

import { utcInstant } from '../../core/ledger/ledgerRow.js';
import { formatAmount } from '../../core/money.js';
import type { SettlementLine } from '../../core/settlement/settlementLine.js';
import { CopyQueue } from '../../database/copy/copyQueue.js';
import { copyText } from '../../database/copy/copyText.js';
import type { Tx } from '../../database/db.js';
import type { BookedBounds, LinesDigest } from './metBatches.js';
import { MetBatches } from './metBatches.js';
import {
  allTakenBefore,
  copyAgain,
  copyLines,
  copyParts,
  stayInTouch,
  takeIds,
  takenBefore,
} from './takenLinesStore.js';

/** A line that holds, with its number in the file. */
export interface CheckedLine {
  readonly line: number;
  readonly row: SettlementLine;
}

/** Text that goes at once; what is read meanwhile is gathered. */
const PIECE_CHARS = 1 << 16;
/** Ids that are asked for at once: what a file may need by its size, so that few are left out. */
const IDS_MAX = 100_000;
const LINE_BYTES = 64;
/** More that were taken before are asked about as they are met, and the COPY ends for each. */
const KNOWN_BATCHES_MAX = 10_000;
/** Calls without a line until a word is said: a transaction that is silent for long is ended. */
const SILENT_CALLS_MAX = 2_000;

export class LineTaker {
  /** by file, in the order of their numbers */
  readonly firstIds: number[] = [];
  readonly batches: MetBatches;
  readonly #tx: Tx;
  /** what was taken before, where it can all be known */
  #taken: ReadonlySet<string> | null = null;
  #ids = { next: 1, end: 1 };
  #idsAtOnce = 1;
  #fresh: string[] = [];
  #again: string[] = [];
  /** characters that are gathered */
  #gathered = 0;
  #silentCalls = 0;
  #going: GoingCopy | null = null;
  /** of the line before: many are booked at once */
  #booked = { said: '', inUtc: '' };

  constructor(tx: Tx, bounds: BookedBounds) {
    this.#tx = tx;
    this.batches = new MetBatches(bounds);
  }

  async beginFile(bytes: number): Promise<void> {
    this.#idsAtOnce = Math.min(IDS_MAX, Math.ceil(bytes / LINE_BYTES));
    if (this.firstIds.length === 0) {
      const taken = await allTakenBefore(this.#tx, KNOWN_BATCHES_MAX);
      this.#taken = taken === null ? null : new Set(taken.map(keyOf));
      await this.#haveIdsFor(1);
    }
    this.firstIds.push(this.#ids.next);
  }

  /** In the order of the file, so many that all of them are in hand. */
  async take(lines: readonly CheckedLine[]): Promise<void> {
    if (lines.length === 0) return this.#stayInTouch();
    await this.#meet(lines);
    await this.#haveIdsFor(lines.length);
    const [fresh, again]: [string[], string[]] = [[], []];
    let [run, digest]: [string[], LinesDigest | null] = [[], null];
    const fileNo = this.firstIds.length - 1;
    for (const { line, row } of lines) {
      const met = this.batches.get(row.accountId, row.batch);
      if (met === undefined) throw new Error('a batch was not asked about');
      met.lines += 1;
      const lineId = row.lineId ?? String(met.lines);
      const bookedAt = this.#inUtc(row.bookedAt);
      const digestOf = this.batches.count(met, row, { fileNo, line, lineId, bookedAt });
      const text = textOf(met.head, lineId, line, bookedAt, row);
      if (met.isTaken) {
        again.push(`${fileNo}\t${row.lineId === null ? 'f' : 't'}\t${text}`);
        continue;
      }
      if (digestOf !== digest) {
        digest?.add(run);
        [run, digest] = [[], digestOf];
      }
      const kept = `${this.#ids.next}\t${text}`;
      fresh.push(kept);
      run.push(kept);
      this.#ids.next += 1;
    }
    digest?.add(run);
    // Joined at once: text that is put together bit by bit is gathered as the bits, and collected
    // late.
    this.#gather(this.#fresh, fresh.join(''));
    this.#gather(this.#again, again.join(''));
    if (this.#gathered >= PIECE_CHARS) await this.#send();
    if (this.batches.areMany()) await this.#sendParts();
  }

  #inUtc(said: string): string {
    if (this.#booked.said !== said) this.#booked = { said, inUtc: utcInstant(said) };
    return this.#booked.inUtc;
  }

  /** Resolves when the database has all of it. */
  async end(): Promise<void> {
    await this.#send();
    await this.#sendParts();
  }

  /** Nothing is on its way any more, however that ended. */
  async stop(): Promise<void> {
    await this.#quiet().catch(() => {});
  }

  #gather(texts: string[], text: string): void {
    if (text === '') return;
    texts.push(text);
    this.#gathered += text.length;
  }

  /** Lines that are only judged, or left out, are read without a word to the database. */
  async #stayInTouch(): Promise<void> {
    this.#silentCalls += 1;
    if (this.#silentCalls % SILENT_CALLS_MAX !== 0) return;
    await this.#quiet();
    await stayInTouch(this.#tx);
  }

  /** Asks of batches that no line named before. */
  async #meet(lines: readonly CheckedLine[]): Promise<void> {
    const strange = lines.filter(
      ({ row }) => this.batches.get(row.accountId, row.batch) === undefined,
    );
    if (strange.length === 0) return;
    const taken = this.#taken ?? (await this.#askOf(strange));
    for (const { row } of strange) {
      const isTaken = taken.has(keyOf({ account_id: row.accountId, batch: row.batch }));
      this.batches.meet(row.accountId, row.batch, isTaken);
    }
  }

  async #askOf(lines: readonly CheckedLine[]): Promise<ReadonlySet<string>> {
    await this.#quiet();
    const accounts = lines.map(({ row }) => row.accountId);
    const names = lines.map(({ row }) => row.batch);
    return new Set((await takenBefore(this.#tx, accounts, names)).map(keyOf));
  }

  async #haveIdsFor(lines: number): Promise<void> {
    if (this.#ids.end - this.#ids.next >= lines) return;
    await this.#quiet();
    const count = Math.max(lines, this.#idsAtOnce);
    const next = await takeIds(this.#tx, count);
    this.#ids = { next, end: next + count };
  }

  /** What is new goes into one COPY as long as nothing else is asked, while more is read. */
  async #send(): Promise<void> {
    const [fresh, again] = [this.#fresh, this.#again];
    [this.#fresh, this.#again] = [[], []];
    this.#gathered = 0;
    if (fresh.length > 0) await (this.#going ?? this.#begin()).queue.put(fresh.join(''));
    if (again.length === 0) return;
    await this.#quiet();
    await copyAgain(this.#tx, again);
  }

  #begin(): GoingCopy {
    const queue = new CopyQueue();
    const done = copyLines(this.#tx, queue);
    // It is thrown where it is waited for.
    done.catch(() => {});
    this.#going = { queue, done };
    return this.#going;
  }

  /** The connection is free for something else. */
  async #quiet(): Promise<void> {
    const going = this.#going;
    this.#going = null;
    going?.queue.end();
    await going?.done;
  }

  async #sendParts(): Promise<void> {
    await this.#quiet();
    await copyParts(this.#tx, this.batches.takeParts());
  }
}

const keyOf = (one: { account_id: string; batch: string }): string =>
  `${one.account_id}\t${one.batch}`;

interface GoingCopy {
  readonly queue: CopyQueue;
  readonly done: Promise<number>;
}

/** As COPY takes it, without what stands before `account_id`. */
function textOf(
  head: string,
  lineId: string,
  lineNo: number,
  bookedAt: string,
  row: SettlementLine,
): string {
  const { amount, gross } = row;
  const charged = formatAmount(amount);
  const counted = gross === amount ? charged : formatAmount(gross);
  return (
    `${head}\t${copyText(lineId)}\t${lineNo}\t${row.type}\t${bookedAt}\t` +
    `${copyText(row.orderNo)}\t${copyText(row.transactionId)}\t${copyText(row.reference)}\t` +
    `${row.currency}\t${charged}\t${row.settleCurrency}\t${counted}\t` +
    `${formatAmount(row.fee)}\t${formatAmount(row.net)}\n`
  );
}
