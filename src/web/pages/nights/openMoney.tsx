// What money is at risk, and whose turn it is: the open breaks of all nights, in real amounts of
// each currency by age, and by the person who has them. Each figure leads to its breaks.

import type { BreakGroupRow, CountedAgain } from '../../../breaks/breaksStore.js';
import { countBreaks, countedAgain } from '../../../breaks/breaksStore.js';
import { dueRuleOf } from '../../../breaks/dueRule.js';
import { AGES, type AgeClock, ageInDays } from '../../../core/breaks/breakAge.js';
import type { DueRule } from '../../../core/breaks/dueDate.js';
import { dueDate, overdueBefore } from '../../../core/breaks/dueDate.js';
import { addAmounts, formatAmount, type MoneySum, parseSum } from '../../../core/money.js';
import { andMore, counted, moneyText, moreOf } from '../../../core/text/amounts.js';
import type { Words } from '../../format.js';
import { Bars } from '../../layout/charts.js';
import { Figure, MoneyOf, Name, Table } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { OVERDUE } from '../breaks/breakQuery.js';

/** Those with the most of them by name; the others are one line. */
const OWNERS_SHOWN = 10;

interface OpenMoney {
  /** the group of each age that has any */
  ages: readonly BreakGroupRow[];
  /** all of them, those with the most first */
  owners: readonly BreakGroupRow[];
  /** of these, what is overdue, by owner */
  overdue: readonly BreakGroupRow[];
  again: CountedAgain;
  rule: DueRule;
}

/** Orders with several breaks that are named. */
const ORDERS_NAMED = 5;

/** Owners that are told apart and added up. */
const OWNERS_MAX = 10_000;

export async function openMoneyOf({ deps, accounts }: Visit): Promise<OpenMoney> {
  const open = { accountIds: accounts, states: ['open'] as const };
  const now = deps.now();
  const rule = dueRuleOf(deps.config);
  const clock = { at: now, timezone: rule.timezone };
  const late = { ...open, seenBefore: overdueBefore(now, rule) };
  const [ages, owners, overdue, again] = await Promise.all([
    countBreaks(deps.db, open, 'age', clock, AGES.length),
    countBreaks(deps.db, open, 'owner', clock, OWNERS_MAX),
    countBreaks(deps.db, late, 'owner', clock, OWNERS_MAX),
    countedAgain(deps.db, accounts, ORDERS_NAMED),
  ]);
  return { ages, owners, overdue, again, rule };
}

/** How many are overdue, and what is at stake in them. */
export function overdueOf({ overdue }: OpenMoney): MoneySum & { breaks: number } {
  return sumOf(overdue);
}

function sumOf(rows: readonly BreakGroupRow[]): MoneySum & { breaks: number } {
  const money: Record<string, string> = {};
  for (const [currency, amount] of rows.flatMap((one) => Object.entries(one.money))) {
    money[currency] = addAmounts(money[currency] ?? '0.00', amount);
  }
  const all = (of: (row: BreakGroupRow) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  return {
    ...{ breaks: all(({ breaks }) => breaks), money },
    withoutAmount: all(({ withoutAmount }) => withoutAmount),
  };
}

/** How many are open of each age. */
export function OpenByAge({ open, words }: { open: OpenMoney; words: Words }) {
  const bars = AGES.map(({ name, words: age }) => {
    const count = open.ages.find(({ key }) => key === name)?.breaks ?? 0;
    const link = <a href={`/breaks?${new URLSearchParams({ age: name })}`}>{age}</a>;
    return { name: link, size: count, shown: words.count(count) };
  });
  return <Bars caption="How many breaks are open, by age" bars={bars} />;
}

export function AtRisk({ open, visit }: { open: OpenMoney; visit: Visit }) {
  if (open.ages.length === 0) return null;
  const { words, deps } = visit;
  return (
    <section aria-labelledby="at-risk">
      <h2 id="at-risk">Money at risk</h2>
      <MoneyByAge ages={open.ages} words={words} />
      <Again again={open.again} />
      <p class="hint">
        What is at stake in breaks that are open now, of all nights. Amounts of different currencies
        are not added up, nor their bars compared: those of one currency are on one scale. Age is
        counted from the night that first saw the break, not from the day of the order; it is due
        {` ${words.count(open.rule.days)} `}working days after it.
      </p>
      <Owners open={open} words={words} clock={{ at: deps.now(), timezone: words.zone }} />
    </section>
  );
}

/** From the sum of the breaks, each of which is listed, to what may be at risk at least. */
function Again({ again: { orders, money, named } }: { again: CountedAgain }) {
  const sum = moneyText(money);
  if (sum === '') return null;
  return (
    <p>
      {counted(orders, 'order')} {orders === 1 ? 'stands' : 'stand'} in more than one open break
      with money of one currency (
      {named.map((orderNo, at) => (
        <>
          {at === 0 ? '' : ', '}
          <a href={`/breaks?${new URLSearchParams({ text: orderNo })}`}>
            <Name name={orderNo} />
          </a>
        </>
      ))}
      {andMore(orders - named.length)}): the breaks beside the largest of each come to{' '}
      <strong>{sum}</strong>, which is counted above and may be the same money again.
    </p>
  );
}

/** A chart a currency: its bars are on one scale, and those of two currencies never are. */
function MoneyByAge({ ages, words }: { ages: readonly BreakGroupRow[]; words: Words }) {
  const currencies = [...new Set(ages.flatMap(({ money }) => Object.keys(money)))].sort();
  const without = ages.reduce((sum, one) => sum + one.withoutAmount, 0);
  return (
    <>
      <div class="charts">
        {currencies.map((currency) => (
          <MoneyOfAges currency={currency} ages={ages} words={words} />
        ))}
      </div>
      {without === 0 ? null : (
        <p class="hint">{words.count(without)} open without an amount, in no figure above.</p>
      )}
    </>
  );
}

function MoneyOfAges(props: { currency: string; ages: readonly BreakGroupRow[]; words: Words }) {
  const { currency, ages, words } = props;
  const found = AGES.map((age) => ({
    ...age,
    amount: ages.find(({ key }) => key === age.name)?.money[currency] ?? null,
  }));
  const amounts = found.map(({ amount }) => parseSum(amount ?? '0.00') ?? 0n);
  const all = amounts.reduce((sum, one) => sum + one, 0n);
  const linked = (amount: string, query: Record<string, string>) => (
    <a href={`/breaks?${new URLSearchParams({ currency, ...query })}`}>
      {words.amount(amount, currency)} {currency}
    </a>
  );
  return (
    <Bars
      caption={<>Open money by age, in all {linked(formatAmount(all), {})}</>}
      bars={found.map(({ name, words: age, amount }, at) => ({
        name: age,
        size: Number(amounts[at] ?? 0n),
        shown: amount === null ? '–' : linked(amount, { age: name }),
      }))}
    />
  );
}

function Owners({ open, words, clock }: { open: OpenMoney; words: Words; clock: AgeClock }) {
  const overdueBy = new Map(open.overdue.map((one) => [one.key, one.breaks]));
  const named = open.owners.slice(0, OWNERS_SHOWN);
  const others = open.owners.slice(OWNERS_SHOWN);
  return (
    <Table
      caption="Who has them"
      class="lists"
      columns={[
        { head: 'Who has them' },
        { head: 'Open breaks', isFigure: true },
        { head: 'Money', isFigure: true },
        { head: 'Days since the first was seen', isFigure: true },
        { head: 'First due' },
        { head: 'Overdue', isFigure: true },
      ]}
    >
      {named.map((one) => (
        <tr>
          <th scope="row">
            <a href={`/breaks?${new URLSearchParams({ owner: one.key ?? '-' })}`}>
              {one.key ?? 'nobody yet'}
            </a>
          </th>
          <Figure name="Open breaks">{words.count(one.breaks)}</Figure>
          <Figure name="Money">
            <MoneyOf money={one.money} withoutAmount={one.withoutAmount} words={words} />
          </Figure>
          <Figure name="Days since the first was seen">
            {words.count(ageInDays(one.oldest, clock))}
          </Figure>
          <td>{dueDate(one.oldest, open.rule)}</td>
          <Figure name="Overdue">
            <OverdueOf owner={one.key} breaks={overdueBy.get(one.key) ?? 0} words={words} />
          </Figure>
        </tr>
      ))}
      {moreOf(others.length).map((more) => (
        <OtherOwners more={more} others={others} {...{ open, overdueBy, words, clock }} />
      ))}
    </Table>
  );
}

/** In one row: those for whom there is no room. */
function OtherOwners(props: {
  more: string;
  others: OpenMoney['owners'];
  open: OpenMoney;
  overdueBy: ReadonlyMap<string | null, number>;
  words: Words;
  clock: AgeClock;
}) {
  const { more, others, open, overdueBy, words, clock } = props;
  const { breaks, ...sum } = sumOf(others);
  const oldest = others.reduce((first, one) => (one.oldest < first ? one.oldest : first), clock.at);
  const late = others.reduce((count, { key }) => count + (overdueBy.get(key) ?? 0), 0);
  return (
    <tr>
      <th scope="row">
        <a href="/breaks?sort=owner">{more}</a>
      </th>
      <Figure name="Open breaks">{words.count(breaks)}</Figure>
      <Figure name="Money">
        <MoneyOf {...sum} words={words} />
      </Figure>
      <Figure name="Days since the first was seen">{words.count(ageInDays(oldest, clock))}</Figure>
      <td>{dueDate(oldest, open.rule)}</td>
      <Figure name="Overdue">{words.count(late)}</Figure>
    </tr>
  );
}

function OverdueOf(props: { owner: string | null; breaks: number; words: Words }) {
  const { owner, breaks, words } = props;
  if (breaks === 0) return <>0</>;
  const query = new URLSearchParams({ due: OVERDUE, owner: owner ?? '-' });
  return <a href={`/breaks?${query}`}>{words.count(breaks)}</a>;
}
