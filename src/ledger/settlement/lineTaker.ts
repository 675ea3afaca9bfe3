// Brings checked lines of the acquirer to where they stay while the next are read: those of batches
// that are new under ids of their own, those of batches that were taken before aside, where they
// are compared. It holds no more than the text that is about to go, and a few words of each batch.
// Neighbours: importSettlement.ts reads and judges, takenLinesStore.ts has the statements.

import { formatAmount } from '../../core/money.js';
import type { SettlementLine } from '../../core/settlement/settlementLine.js';
import { copyText } from '../../database/copy/copyText.js';
import type { Tx } from '../../database/db.js';
import { copyAgain, copyLines, stayInTouch, takeIds, takenBefore } from './takenLinesStore.js';

/** A line that holds, with its number in the file. */
export interface CheckedLine {
  readonly line: number;
  readonly row: SettlementLine;
}

/** What is known of a batch of these files. */
interface MetBatch {
  readonly isTaken: boolean;
  /** so far */
  lines: number;
}

/** Text that goes at once; what is read meanwhile is gathered. */
const PIECE_CHARS = 1 << 18;
/** Ids that are asked for at once; a small file asks for few. */
const IDS_MAX = 10_000;
/** Calls without a line until a word is said: a transaction that is silent for long is ended. */
const SILENT_CALLS_MAX = 2_000;

export class LineTaker {
  /** by file, in the order of their numbers */
  readonly firstIds: number[] = [];
  /** true as soon as a line has an id of the acquirer's */
  haveIds = false;
  readonly #tx: Tx;
  readonly #batches = new Map<string, MetBatch>();
  #ids = { next: 1, end: 1, asked: 0 };
  /** the one that the line before was of */
  #last: { accountId: string; batch: string; met: MetBatch } | null = null;
  #fresh: string[] = [];
  #again: string[] = [];
  /** characters that are gathered */
  #gathered = 0;
  #silentCalls = 0;
  #going: Promise<unknown> = Promise.resolve();

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  async beginFile(): Promise<void> {
    if (this.firstIds.length === 0) await this.#haveIdsFor(1);
    this.firstIds.push(this.#ids.next);
  }

  /** In the order of the file, so many that all of them are in hand. */
  async take(lines: readonly CheckedLine[]): Promise<void> {
    if (lines.length === 0) return this.#stayInTouch();
    await this.#meet(lines);
    await this.#haveIdsFor(lines.length);
    const fileNo = this.firstIds.length - 1;
    const [fresh, again]: [string[], string[]] = [[], []];
    for (const { line, row } of lines) {
      const batch = this.#met(row);
      if (batch === undefined) throw new Error('a batch was not asked about');
      batch.lines += 1;
      if (row.lineId !== null) this.haveIds = true;
      const text = textOf(line, row, row.lineId ?? String(batch.lines));
      if (batch.isTaken) {
        again.push(`${fileNo}\t${row.lineId === null ? 'f' : 't'}\t${text}`);
      } else {
        fresh.push(`${this.#ids.next}\t${text}`);
        this.#ids.next += 1;
      }
    }
    // Joined at once: text that is put together bit by bit is gathered as the bits, and collected
    // late.
    this.#gather(this.#fresh, fresh.join(''));
    this.#gather(this.#again, again.join(''));
    if (this.#gathered >= PIECE_CHARS) await this.#send();
  }

  /** Resolves when the database has all of it. */
  async end(): Promise<void> {
    await this.#send();
    await this.#going;
  }

  /** Nothing is on its way any more, however that ended. */
  async stop(): Promise<void> {
    await this.#going.catch(() => {});
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
    await this.#going;
    await stayInTouch(this.#tx);
  }

  /** Asks of batches that no line named before. */
  async #meet(lines: readonly CheckedLine[]): Promise<void> {
    const strange = lines.filter(({ row }) => this.#met(row) === undefined);
    if (strange.length === 0) return;
    await this.#going;
    const accounts = strange.map(({ row }) => row.accountId);
    const names = strange.map(({ row }) => row.batch);
    const taken = await takenBefore(this.#tx, accounts, names);
    const known = new Set(taken.map(({ account_id, batch }) => `${account_id}\t${batch}`));
    for (const { row } of strange) {
      const key = `${row.accountId}\t${row.batch}`;
      this.#batches.set(key, { isTaken: known.has(key), lines: 0 });
    }
  }

  /** Lines of a batch mostly follow one another. */
  #met({ accountId, batch }: SettlementLine): MetBatch | undefined {
    const last = this.#last;
    if (last?.batch === batch && last.accountId === accountId) return last.met;
    const met = this.#batches.get(`${accountId}\t${batch}`);
    if (met !== undefined) this.#last = { accountId, batch, met };
    return met;
  }

  async #haveIdsFor(lines: number): Promise<void> {
    if (this.#ids.end - this.#ids.next >= lines) return;
    await this.#going;
    const count = Math.max(lines, Math.min(IDS_MAX, this.#ids.asked * 2));
    const next = await takeIds(this.#tx, count);
    this.#ids = { next, end: next + count, asked: count };
  }

  /** One piece is on its way while the next is read. */
  async #send(): Promise<void> {
    await this.#going;
    const [fresh, again] = [this.#fresh, this.#again];
    [this.#fresh, this.#again] = [[], []];
    this.#gathered = 0;
    const going = this.#copied(fresh, again);
    // It is thrown where it is waited for.
    going.catch(() => {});
    this.#going = going;
  }

  async #copied(fresh: readonly string[], again: readonly string[]): Promise<void> {
    if (fresh.length > 0) await copyLines(this.#tx, fresh);
    if (again.length > 0) await copyAgain(this.#tx, again);
  }
}

/** As COPY takes it, without what stands before `account_id`. */
function textOf(lineNo: number, line: SettlementLine, lineId: string): string {
  const { amount, gross } = line;
  const charged = formatAmount(amount);
  const counted = gross === amount ? charged : formatAmount(gross);
  return (
    `${copyText(line.accountId)}\t${copyText(line.batch)}\t${copyText(lineId)}\t${lineNo}\t` +
    `${line.type}\t${line.bookedAt}\t${copyText(line.orderNo)}\t` +
    `${copyText(line.transactionId)}\t${copyText(line.reference)}\t${line.currency}\t` +
    `${charged}\t${line.settleCurrency}\t${counted}\t${formatAmount(line.fee)}\t` +
    `${formatAmount(line.net)}\n`
  );
}
