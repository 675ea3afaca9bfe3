// Pieces that many pages share: figures on the right, states as words with a colour beside them,
// tables with a caption, a pager, what to do when there is nothing, forms that carry their token.

import type { ComponentChild, ComponentChildren, VNode } from 'preact';
import { cloneElement, isValidElement, toChildArray } from 'preact';
import { stateLabel } from '../../core/text/labels.js';
import { orderPath } from '../../core/text/orderPath.js';
import type { Words } from '../format.js';

/** `words` where the state alone does not say them. */
export function State({ state, words }: { state: string; words?: string }) {
  return <span class={`state ${state}`}>{words ?? stateLabel(state)}</span>;
}

/** `name` is said before it where a narrow window has no room for the head of its column. */
export function Figure({ name, children }: { name?: string; children: ComponentChildren }) {
  return (
    <td class="figure" data-name={name}>
      {children}
    </td>
  );
}

/** What of the address does not fit, so that nothing matches. */
export function FilterProblem({ words }: { words: string | null }) {
  return words === null ? null : (
    <p class="problem" role="alert">
      {words}
    </p>
  );
}

/** One line a currency. */
export function MoneyOf(props: {
  money: Readonly<Record<string, string>>;
  withoutAmount: number;
  words: Words;
}) {
  const { money, withoutAmount, words } = props;
  return (
    <>
      {Object.entries(money).map(([currency, amount]) => (
        <div>
          {words.amount(amount, currency)} {currency}
        </div>
      ))}
      {withoutAmount > 0 ? (
        <div class="hint">{words.count(withoutAmount)} without an amount</div>
      ) : null}
    </>
  );
}

export interface Column {
  head: string;
  isFigure?: boolean;
  /** where its rows stand in the order of this column */
  sort?: { to: string; order: 'ascending' | 'descending' };
  isSorted?: boolean;
}

/** In a narrow window its rows are lists, or `cards` in a middle one too. */
export function Table(props: {
  caption: string;
  columns: readonly Column[];
  isCaptionSeen?: boolean;
  class?: string;
  children: ComponentChildren;
}) {
  const { columns, class: look = 'lists', children } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by the keyboard too
    <section class="wide" tabIndex={0} aria-label={props.caption}>
      <table class={look}>
        <caption class={props.isCaptionSeen === true ? undefined : 'unseen'}>
          {props.caption}
        </caption>
        <thead>
          <tr>
            {columns.map(({ head, isFigure, sort, isSorted }) => (
              <th
                scope="col"
                class={isFigure === true ? 'figure' : undefined}
                aria-sort={isSorted === true ? sort?.order : undefined}
              >
                {sort === undefined ? (
                  head
                ) : (
                  <a class="by" href={sort.to}>
                    {head}
                  </a>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{look.startsWith('lists') ? named(children, columns) : children}</tbody>
      </table>
    </section>
  );
}

/**
 * Cells of whole rows say the head of their column, for where a narrow window has no room for the
 * heads. One that has a name keeps it, and of two columns the second needs none.
 */
function named(rows: ComponentChildren, columns: readonly Column[]): ComponentChildren {
  return toChildArray(rows).map((row) => {
    if (columns.length < 3 || !isElement(row) || row.type !== 'tr') return row;
    const cells = toChildArray(row.props.children);
    if (cells.length !== columns.length) return row;
    const saying = cells.map((cell, at) => {
      const head = columns[at]?.head;
      if (!isElement(cell) || at === 0) return cell;
      if (cell.type === Figure) return cloneElement(cell, { name: cell.props.name ?? head });
      if (cell.type !== 'td') return cell;
      return cloneElement(cell, { 'data-name': cell.props['data-name'] ?? head });
    });
    return cloneElement(row, {}, saying);
  });
}

interface CellProps {
  children?: ComponentChildren;
  name?: string | undefined;
  'data-name'?: string | undefined;
}

function isElement(child: ComponentChild): child is VNode<CellProps> {
  return isValidElement(child);
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function OrderLink({ accountId, orderNo }: { accountId: string; orderNo: string }) {
  return (
    <a href={orderPath(accountId, orderNo)}>
      <Name name={orderNo} />
    </a>
  );
}

const NAME_WIDTH = 32;

/** A number or name from outside; a very long one may have no place to break, and does anywhere. */
export function Name({ name }: { name: string }): ComponentChild {
  if (name.length <= NAME_WIDTH) return name;
  return <span class="long">{name}</span>;
}

export function Form(props: {
  action: string;
  csrf: string;
  class?: string;
  id?: string;
  /** it brings a file */
  isUpload?: true;
  children: ComponentChildren;
}) {
  const { action, isUpload, id } = props;
  const enctype = isUpload === true ? 'multipart/form-data' : undefined;
  return (
    <form method="post" action={action} encType={enctype} class={props.class} id={id}>
      <input type="hidden" name="_csrf" value={props.csrf} />
      {props.children}
    </form>
  );
}

/** Why it is done, with what was typed before the form came back or was looked at. */
export function Reason(props: {
  visit: { typed(name: string): string; form: { text(name: string): string | null } };
  label?: string;
  isOptional?: boolean;
}) {
  const { visit, label = 'Reason', isOptional = false } = props;
  return (
    <label>
      {label}
      <input
        name="words"
        size={40}
        maxLength={1000}
        required={!isOptional}
        value={visit.typed('words') || (visit.form.text('words') ?? '')}
      />
    </label>
  );
}

/** Ticks a row for a decision over many. */
export function Pick(props: { id: bigint | string; what: string; ticked: ReadonlySet<string> }) {
  const value = props.id.toString();
  const isTicked = props.ticked.has(value.split(':')[0] ?? '');
  const label = `Pick ${props.what}`;
  return <input type="checkbox" name="id" value={value} checked={isTicked} aria-label={label} />;
}

/** Ticks all rows; only where there are scripts, which show it. */
export function PickAll() {
  return (
    <label class="all">
      <input type="checkbox" data-all="id" hidden /> <span>all of this page</span>
    </label>
  );
}

/**
 * Pages of a list; `at` is the page from 0, `to` makes its address. Either all of them are counted,
 * or it is known only whether another one follows: then none says how many there are.
 */
export function Pager(
  props: { at: number; to: (page: number) => string } & ({ pages: number } | { hasNext: boolean }),
) {
  const { at, to } = props;
  const hasNext = 'pages' in props ? at + 1 < props.pages : props.hasNext;
  if (at === 0 && !hasNext) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {at > 0 ? <a href={to(at - 1)}>Earlier page</a> : <span>Earlier page</span>}
      <span>
        Page {at + 1}
        {'pages' in props ? ` of ${Math.max(props.pages, 1)}` : ''}
      </span>
      {hasNext ? <a href={to(at + 1)}>Next page</a> : <span>Next page</span>}
    </nav>
  );
}

export interface RowVerdict {
  what: string;
  kind: 'done' | 'refused';
  words: string;
  link?: string;
}

/** What became of each row of a decision; nothing is left to be guessed. */
export function Verdicts(props: {
  rows: readonly RowVerdict[];
  /** what was done, by what it came to, with its money */
  sums?: readonly string[];
  back: string;
}) {
  const done = props.rows.filter(({ kind }) => kind === 'done').length;
  return (
    <>
      <h1>What was done</h1>
      <p class="sentence" role="status">
        {done} of {props.rows.length} done
        {done < props.rows.length
          ? '; the others were left as they were, each with its reason.'
          : '.'}
      </p>
      {(props.sums ?? []).length === 0 ? null : <p>{props.sums?.join('; ')}.</p>}
      <Table
        caption="Verdict for each row"
        columns={[{ head: 'What' }, { head: 'Verdict' }, { head: 'In words' }]}
      >
        {props.rows.map((row) => (
          <tr>
            <th scope="row" class="words">
              {row.link === undefined ? row.what : <a href={row.link}>{row.what}</a>}
            </th>
            <td>
              <span class={`state ${row.kind}`}>{row.kind}</span>
            </td>
            <td class="value">{row.words}</td>
          </tr>
        ))}
      </Table>
      <p>
        <a href={props.back}>Back to the list</a>
      </p>
    </>
  );
}
