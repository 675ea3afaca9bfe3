// A list of the console as CSV: the form beside the list, with the options of `tieout report`, and
// the file, by the writer of that command. It is of the accounts whose reports the person may take,
// of a named number of rows at most, and who took it is recorded as with a report.

import type { Table } from '../../../reports/column.js';
import { inEnvironment, statesAsOf } from '../../../reports/column.js';
import type { CsvOptions } from '../../../reports/delimited.js';
import { delimitedText, SEPARATORS } from '../../../reports/delimited.js';
import { byName, inSentence } from '../../core/accounts/alike.js';
import { countText } from '../../core/text/amounts.js';
import type { Answer, Visit } from '../visit.js';
import type { Fields } from '../visitor/fields.js';
import { partOf } from '../visitor/filters.js';

/** Rows of one file: more are a report. */
export const CSV_ROWS_MAX = 10_000;

const SIGNS = Object.keys(SEPARATORS) as (keyof typeof SEPARATORS)[];
const SIGN_WORDS: Readonly<Record<keyof typeof SEPARATORS, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  tab: 'tab',
};
const DECIMALS = ['.', ','] as const;

/** `path` and `kept`: what is asked for, as the address of the list has it. */
export function CsvForm(props: {
  visit: Visit;
  path: string;
  kept: Readonly<Record<string, string>>;
}) {
  const { visit, path, kept } = props;
  const download = visit.accountsFor('download');
  const shown = kept.account === undefined ? visit.accounts : [kept.account];
  const own = shown.filter((account) => download.includes(account));
  if (own.length === 0) return null;
  return (
    <details class="csv">
      <summary>Download as CSV</summary>
      <form class="filters" action={path} method="get" aria-label="Download as CSV">
        {Object.entries(kept).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <label>
          Between fields
          <select name="separator">
            {SIGNS.map((sign) => (
              <option value={sign}>{SIGN_WORDS[sign]}</option>
            ))}
          </select>
        </label>
        <label>
          Decimal sign
          <select name="decimal">
            <option value=".">point</option>
            <option value=",">comma</option>
          </select>
        </label>
        <label>
          Mark for Excel (UTF-8)
          <select name="bom">
            <option value="yes">with it</option>
            <option value="no">without</option>
          </select>
        </label>
        <button type="submit">Download</button>
        <span class="hint">
          At most {countText(CSV_ROWS_MAX)} rows; the file says if it is cut.
          {own.length === shown.length ? '' : ` It is of ${inSentence(own)} alone, and says so.`}
        </span>
      </form>
    </details>
  );
}

/** Null: a sign that is none. */
function optionsOf(query: Fields): CsvOptions | null {
  const separator = query.oneOf('separator', SIGNS);
  const decimalSign = query.oneOf('decimal', DECIMALS);
  const bom = query.oneOf('bom', ['yes', 'no']);
  const isWrong = (name: string, value: unknown): boolean => value === null && query.isGiven(name);
  if (isWrong('separator', separator) || isWrong('decimal', decimalSign) || isWrong('bom', bom)) {
    return null;
  }
  return {
    ...(bom === 'yes' && { byteOrderMark: true }),
    ...(separator !== null && { separator: SEPARATORS[separator] }),
    ...(decimalSign !== null && { decimalSign }),
  };
}

interface CsvList<R> {
  /** of the file, without its ending */
  name: string;
  /** what it is, in the trail */
  subject: string;
  table: Table<R>;
  rows: readonly R[];
  /** how many there are in all, in words */
  all: string;
  isCut: boolean;
  /** as of when its states are; absent: as it is now */
  asOf?: string;
}

export async function csvAnswer<R>(visit: Visit, list: CsvList<R>): Promise<Answer> {
  const options = optionsOf(visit.query);
  if (options === null) return { kind: 'refused', status: 400, words: NO_SUCH_SIGN };
  const { config, now } = visit.deps;
  const asOf = list.asOf ?? `now (${now().toISOString()})`;
  const table = inEnvironment(statesAsOf(list.table, asOf), config.environment);
  let text = '';
  for await (const piece of delimitedText('csv', table, [list.rows], options)) text += piece;
  const count = countText(list.rows.length);
  // A line of its own, in the file itself: nobody adds up a part for the whole.
  const cut = list.isCut ? `CUT: the first ${count} of ${list.all} rows` : null;
  const ending = cut === null ? '' : '-cut';
  const part = partOf(visit);
  const only = part === null ? null : partWords(part, visit.person.name);
  const said = [only, cut].flatMap((line) => (line === null ? [] : `"${line}"\r\n`));
  return {
    kind: 'text',
    name: `${list.name.replaceAll(/[^\w.-]/g, '_')}${ending}.csv`,
    type: 'text/csv; charset=utf-8',
    text: text + said.join(''),
    taken: () =>
      visit.record({
        action: 'download list',
        subject: list.subject,
        outcome: cut ?? `${count} ${list.rows.length === 1 ? 'row' : 'rows'}`,
      }),
  };
}

/** All of them, since whoever gets the file knows no page. */
function partWords(part: readonly string[], name: string): string {
  const own = `account${part.length === 1 ? '' : 's'} ${part.toSorted(byName).join(' ')}`;
  return `PART: of ${own} alone; ${name} may download no others`;
}

const NO_SUCH_SIGN = 'Between fields a comma, a semicolon or a tab; in amounts a point or a comma.';
