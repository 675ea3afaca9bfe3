// The form above the list of breaks. It is sent by GET: what was chosen stands in the address.

import { AGES } from '../../../core/breaks/breakAge.js';
import { BREAK_KINDS } from '../../../core/orders/verdict.js';
import { labelOf } from '../../../core/text/labels.js';
import type { Visit } from '../../visit.js';
import type { Fields } from '../../visitor/fields.js';
import { accountWords } from '../../visitor/filters.js';
import { OVERDUE } from './breakQuery.js';

interface Choice {
  value: string;
  words: string;
}

function Choose(props: {
  name: string;
  label: string;
  query: Fields;
  any: string;
  choices: readonly Choice[];
}) {
  const chosen = props.query.text(props.name);
  return (
    <label>
      {props.label}
      <select name={props.name}>
        <option value="">{props.any}</option>
        {props.choices.map(({ value, words }) => (
          <option value={value} selected={chosen === value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Type(props: { name: string; label: string; query: Fields; size: number }) {
  return (
    <label>
      {props.label}
      <input
        name={props.name}
        value={props.query.text(props.name) ?? ''}
        size={props.size}
        maxLength={128}
      />
    </label>
  );
}

export function Filters(props: {
  visit: Visit;
  choices: { currencies: readonly string[]; owners: readonly string[] };
}) {
  const { visit, choices } = props;
  const { query } = visit;
  const accounts = visit.accounts.map((one) => ({ value: one, words: accountWords(visit, one) }));
  return (
    <form class="filters" action="/breaks" method="get" aria-label="Filters">
      <Choose name="state" label="State" query={query} any="open" choices={STATES} />
      <Choose name="account" label="Account" query={query} any="all" choices={accounts} />
      <Choose name="kind" label="Kind" query={query} any="all" choices={KINDS} />
      <Choose
        name="currency"
        label="Currency"
        query={query}
        any="all"
        choices={choices.currencies.map(same)}
      />
      <Choose name="age" label="Age" query={query} any="any" choices={AGE_CHOICES} />
      <Choose name="due" label="Due" query={query} any="any" choices={DUE_CHOICES} />
      <Choose
        name="owner"
        label="Owner"
        query={query}
        any="anybody"
        choices={[{ value: '-', words: 'nobody yet' }, ...choices.owners.map(same)]}
      />
      <Type name="from" label="Amount from" query={query} size={10} />
      <Type name="to" label="Amount to" query={query} size={10} />
      <Type name="text" label="Order, transaction, refund, words" query={query} size={18} />
      <Choose name="sort" label="Order by" query={query} any="oldest first" choices={SORTS} />
      {query.text('cause', 600) === null ? null : (
        <input type="hidden" name="cause" value={query.text('cause', 600) ?? ''} />
      )}
      <button type="submit">Show</button>
      <a href="/breaks">Clear</a>
    </form>
  );
}

const STATES: readonly Choice[] = [
  { value: 'waiver_asked', words: 'waiver waits for a second person' },
  ...['waived', 'resolved', 'any'].map(same),
];
const KINDS: readonly Choice[] = BREAK_KINDS.map((kind) => ({ value: kind, words: labelOf(kind) }));
const AGE_CHOICES: readonly Choice[] = AGES.map(({ name, words }) => ({ value: name, words }));
const DUE_CHOICES: readonly Choice[] = [same(OVERDUE)];
const SORTS: readonly Choice[] = [
  { value: 'amount', words: 'largest of a currency first' },
  { value: 'order', words: 'order number' },
  { value: 'account', words: 'account' },
  { value: 'kind', words: 'what differs' },
  { value: 'owner', words: 'owner' },
];

function same(value: string): Choice {
  return { value, words: value };
}
