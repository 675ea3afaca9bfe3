// What a filled row of a workbook asks for: the three cells that a person fills, read strictly, and
// one decision a row, bound by its id and never by its place. Pure; whether the decision may be
// taken is for those to say who take it.

import type { BreakAction } from '../breaks/breakDecision.js';
import { wordsProblem } from '../instructions/decider.js';
import { withoutCards } from '../text/cardSpellings.js';
import { cutText } from '../text/heldText.js';
import type { RowBinding } from './rowBinding.js';

/** The words to choose from, as the sheets list them. */
export const BREAK_WORDS = ['waive', 'assign', 'note'] as const;
export const INSTRUCTION_WORDS = ['approve', 'reject'] as const;

/** A cell that a person may have filled; null: it is empty. */
export type EnteredCell = { kind: 'words'; text: string } | { kind: 'formula' } | null;

export interface EnteredRow {
  readonly sheet: string;
  readonly row: number;
  readonly decision: EnteredCell;
  readonly reason: EnteredCell;
  readonly toWhom: EnteredCell;
  /** null: the row carries no id of ours */
  readonly carried: { readonly binding: RowBinding; readonly isWhole: boolean } | null;
}

type InstructionAction =
  | { readonly kind: 'approve'; readonly reason: string | null }
  | { readonly kind: 'reject'; readonly reason: string };

export type Wanted =
  | { readonly of: 'break'; readonly binding: RowBinding; readonly action: BreakAction }
  | {
      readonly of: 'instruction';
      readonly binding: RowBinding;
      readonly action: InstructionAction;
    };

export type ReadRow = Pick<EnteredRow, 'sheet' | 'row'> & {
  /** empty where the row carries none */
  readonly id: string;
  /** the word as it was given */
  readonly decision: string;
  /** what the id is of; a copy keeps both, whatever was done to it */
  readonly of: RowBinding['of'] | null;
} & (
    | { readonly kind: 'wanted'; readonly wanted: Wanted }
    | { readonly kind: 'refused' | 'unchanged'; readonly reason: string }
  );

/** Whether a person filled anything in. */
export function isFilled({ decision, reason, toWhom }: EnteredRow): boolean {
  return decision !== null || reason !== null || toWhom !== null;
}

/** One answer for each row, in their order; a break or instruction is decided once. */
export function readRows(rows: readonly EnteredRow[]): ReadRow[] {
  const read = rows.map(readRow);
  const first = new Map<string, { row: ReadRow; text: string }>();
  const torn = new Set<string>();
  for (const row of read) {
    const key = keyOf(row);
    if (key === null) continue;
    const text = row.kind === 'wanted' ? JSON.stringify(row.wanted.action) : row.kind;
    const before = first.get(key);
    if (before === undefined) first.set(key, { row, text });
    else if (before.text !== text) torn.add(key);
  }
  return read.map((row) => {
    const key = keyOf(row);
    if (key === null || row.kind !== 'wanted') return row;
    if (torn.has(key)) return refusal(row, 'it stands in more than one row, with other decisions');
    const before = first.get(key)?.row ?? row;
    if (before === row) return row;
    return { ...plain(row), kind: 'unchanged', reason: `the same as row ${before.row}` };
  });
}

function keyOf({ of, id }: ReadRow): string | null {
  return of === null ? null : `${of} ${id}`;
}

function readRow(entered: EnteredRow): ReadRow {
  const { sheet, row, carried } = entered;
  const told = {
    ...{ sheet, row, id: carried?.binding.id ?? '', decision: wordOf(entered.decision) },
    of: carried?.binding.of ?? null,
  };
  if (carried === null) return refusal(told, 'the row carries no id: it is none of ours');
  const formula = COLUMNS.find(({ key }) => entered[key]?.kind === 'formula');
  if (formula) return refusal(told, `${formula.name} is a formula; write the words themselves`);
  if (!carried.isWhole) {
    const why = 'the row was altered elsewhere than in the three columns';
    return refusal(told, `${why}, or the workbook is of another installation`);
  }
  const { binding } = carried;
  const reason = textOf(entered.reason);
  const toWhom = textOf(entered.toWhom);
  const wanted =
    binding.of === 'break'
      ? breakAction(told.decision, reason, toWhom)
      : instructionAction(told.decision, reason, toWhom);
  if (typeof wanted === 'string') return refusal(told, wanted);
  return { ...told, kind: 'wanted', wanted: { of: binding.of, binding, action: wanted } as Wanted };
}

const COLUMNS = [
  { key: 'decision', name: 'the decision' },
  { key: 'reason', name: 'the reason' },
  { key: 'toWhom', name: 'to whom' },
] as const;

/** The action, or why there is none. */
function breakAction(word: string, reason: string, toWhom: string): BreakAction | string {
  const [verb] = BREAK_WORDS.filter((one) => one === word.toLowerCase());
  if (verb === undefined) return unknownWord(word, BREAK_WORDS);
  const problem = reason === '' && verb === 'assign' ? null : problemOf(`the reason`, reason);
  if (problem !== null) return problem;
  if (verb === 'assign') {
    const owner = toWhom === '-' ? null : toWhom;
    const named = owner === null ? null : problemOf('to whom', owner);
    return named ?? { kind: 'assign', owner, ...(reason === '' ? {} : { reason }) };
  }
  if (toWhom !== '') return 'to whom is for assign alone';
  return verb === 'note' ? { kind: 'note', text: reason } : { kind: 'waive', reason };
}

function instructionAction(
  word: string,
  reason: string,
  toWhom: string,
): InstructionAction | string {
  const [verb] = INSTRUCTION_WORDS.filter((one) => one === word.toLowerCase());
  if (verb === undefined) return unknownWord(word, INSTRUCTION_WORDS);
  if (toWhom !== '') return 'to whom is for assign alone';
  if (verb === 'approve' && reason === '') return { kind: 'approve', reason: null };
  return problemOf('the reason', reason) ?? { kind: verb, reason };
}

function unknownWord(word: string, words: readonly string[]): string {
  const one =
    word === '' ? 'there is no decision' : `${cutText(word, WORD_SHOWN)}: no such decision`;
  return `${one}: choose ${words.join(', ')}`;
}

const WORD_SHOWN = 40;

function problemOf(what: string, text: string): string | null {
  const problem = wordsProblem(text);
  return problem === null ? null : `${what} ${problem}`;
}

/** None of the words is like a card number; what is typed in their place may be one. */
function wordOf(cell: EnteredCell): string {
  return cell?.kind === 'words' ? withoutCards(textOf(cell)) : cell === null ? '' : '(formula)';
}

function textOf(cell: EnteredCell): string {
  return cell?.kind === 'words' ? cell.text.replace(/\r\n?/g, '\n').trim() : '';
}

type Told = Pick<ReadRow, 'sheet' | 'row' | 'id' | 'of' | 'decision'>;

function plain({ sheet, row, id, of, decision }: Told): Told {
  return { sheet, row, id, of, decision };
}

function refusal(row: Told, reason: string): ReadRow {
  return { ...plain(row), kind: 'refused', reason };
}
