// What is told of batches while their lines go by, so that nobody reads these a second time: what
// they come to by currency and type, whether their ids ascend, and the digest of what is new, which
// is sealed. A part is let go of when there are many; the database adds them up. Neighbours:
// lineTaker.ts brings the lines, copied_lines_sha256 of the schema works the digest out again.

import { createHash, type Hash } from 'node:crypto';
import { formatAmount } from '../../core/money.js';
import type { SettlementLine } from '../../core/settlement/settlementLine.js';
import { copyText } from '../../database/copy/copyText.js';

/** A batch of these files. */
interface MetBatch {
  readonly isTaken: boolean;
  /** account and name, as COPY takes them */
  readonly head: string;
  /** so far */
  lines: number;
  lastId: string;
  /** the newest of its parts */
  part: Part | null;
}

/** Lines of a batch in one currency and of one type. */
interface Part {
  readonly head: string;
  readonly currency: string;
  readonly type: string;
  readonly files: [first: number, last: number];
  readonly numbers: [first: number, last: number];
  readonly booked: [first: string, last: string];
  lines: number;
  amount: bigint;
  gross: bigint;
  fee: bigint;
  net: bigint;
  history: number;
  ahead: number;
  readonly digest: LinesDigest | null;
}

/** Where a line stands, and when it was booked, in UTC with six decimals. */
interface LinePlace {
  readonly fileNo: number;
  readonly line: number;
  readonly lineId: string;
  readonly bookedAt: string;
}

/** Instants of the same shape: what lies before the one is history, what after the other is odd. */
export interface BookedBounds {
  readonly since: string;
  readonly ahead: string;
}

/** The digest of new lines of a batch in one currency. */
export interface BatchDigest {
  readonly accountId: string;
  readonly batch: string;
  readonly currency: string;
  readonly digest: string;
}

/** More parts are let go of at once. */
const PARTS_MAX = 10_000;
/** More batches than this are sealed as their lines are read again. */
const DIGESTS_MAX = 1_000;

export class MetBatches {
  /** false: an id of a batch does not follow the one before it, so that one may come twice */
  doAscend = true;
  readonly #batches = new Map<string, MetBatch>();
  readonly #digests = new Map<string, { of: Omit<BatchDigest, 'digest'>; lines: LinesDigest }>();
  #parts = new Map<string, Part>();
  readonly #bounds: BookedBounds;
  /** the one that the line before was of */
  #last: { accountId: string; batch: string; met: MetBatch } | null = null;

  constructor(bounds: BookedBounds) {
    this.#bounds = bounds;
  }

  get(accountId: string, batch: string): MetBatch | undefined {
    // Lines of a batch mostly follow one another.
    const last = this.#last;
    if (last?.batch === batch && last.accountId === accountId) return last.met;
    const met = this.#batches.get(`${accountId}\t${batch}`);
    if (met !== undefined) this.#last = { accountId, batch, met };
    return met;
  }

  meet(accountId: string, batch: string, isTaken: boolean): void {
    const head = `${copyText(accountId)}\t${copyText(batch)}`;
    const met = { isTaken, head, lines: 0, lastId: '', part: null };
    this.#batches.set(`${accountId}\t${batch}`, met);
  }

  /** Answers where the line's text is digested. */
  count(met: MetBatch, row: SettlementLine, place: LinePlace): LinesDigest | null {
    const { lineId, bookedAt, fileNo, line } = place;
    if (!isAbove(lineId, met.lastId)) this.doAscend = false;
    met.lastId = lineId;
    const { part: newest } = met;
    const part =
      newest !== null && newest.type === row.type && newest.currency === row.settleCurrency
        ? newest
        : this.#partOf(met, row, place);
    met.part = part;
    part.lines += 1;
    part.amount += row.amount;
    part.gross += row.gross;
    part.fee += row.fee;
    part.net += row.net;
    part.files[1] = fileNo;
    part.numbers[1] = Math.max(part.numbers[1], line);
    part.numbers[0] = Math.min(part.numbers[0], line);
    if (bookedAt < part.booked[0]) part.booked[0] = bookedAt;
    if (bookedAt > part.booked[1]) part.booked[1] = bookedAt;
    if (bookedAt < this.#bounds.since) part.history += 1;
    if (bookedAt > this.#bounds.ahead) part.ahead += 1;
    return part.digest;
  }

  #partOf(met: MetBatch, row: SettlementLine, { fileNo, line, bookedAt }: LinePlace): Part {
    const key = `${met.head}\t${row.settleCurrency}\t${row.type}`;
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    const part: Part = {
      ...{ head: met.head, currency: row.settleCurrency, type: row.type },
      ...{ files: [fileNo, fileNo], numbers: [line, line], booked: [bookedAt, bookedAt] },
      ...{ lines: 0, amount: 0n, gross: 0n, fee: 0n, net: 0n, history: 0, ahead: 0 },
      digest: met.isTaken ? null : this.#digestOf(met, row),
    };
    this.#parts.set(key, part);
    return part;
  }

  #digestOf(met: MetBatch, { accountId, batch, settleCurrency }: SettlementLine) {
    const key = `${met.head}\t${settleCurrency}`;
    const known = this.#digests.get(key);
    if (known !== undefined) return known.lines;
    // One that has lines already, and no digest, was met when there were too many.
    if (this.#digests.size >= DIGESTS_MAX) return null;
    const lines = new LinesDigest();
    this.#digests.set(key, { of: { accountId, batch, currency: settleCurrency }, lines });
    return lines;
  }

  areMany(): boolean {
    return this.#parts.size >= PARTS_MAX;
  }

  /** As COPY takes them; they are let go of. */
  takeParts(): string[] {
    const texts = [...this.#parts.values()].map(partText);
    this.#parts = new Map();
    for (const met of this.#batches.values()) met.part = null;
    return texts;
  }

  /** Once, after the last line. */
  digests(): BatchDigest[] {
    return [...this.#digests.values()].map(({ of, lines }) => ({ ...of, digest: lines.end() }));
  }
}

/** Numbers ascend by their length first, and so do names of one length. */
function isAbove(id: string, last: string): boolean {
  return id.length === last.length ? id > last : id.length > last.length;
}

function partText(part: Part): string {
  const { head, currency, type, files, numbers, booked, lines, history, ahead } = part;
  const sums = [part.amount, part.gross, part.fee, part.net].map(formatAmount);
  const columns = [
    ...[head, currency, type, ...files, ...numbers, lines, ...sums, ...booked],
    ...[history, ahead],
  ];
  return `${columns.join('\t')}\n`;
}

/** Of so many lines each, and of these digests: copied_lines_sha256 says the same. */
const PIECE_LINES = 1_000;

/** The digest of lines as COPY takes them. */
export class LinesDigest {
  readonly #all = createHash('sha256');
  #piece: Hash = createHash('sha256');
  #lines = 0;

  add(lines: readonly string[]): void {
    for (let from = 0; from < lines.length; ) {
      const some = lines.slice(from, from + PIECE_LINES - this.#lines);
      this.#piece.update(some.join(''));
      this.#lines += some.length;
      from += some.length;
      if (this.#lines === PIECE_LINES) this.#endPiece();
    }
  }

  end(): string {
    if (this.#lines > 0) this.#endPiece();
    return this.#all.digest('hex');
  }

  #endPiece(): void {
    this.#all.update(this.#piece.digest());
    this.#piece = createHash('sha256');
    this.#lines = 0;
  }
}
