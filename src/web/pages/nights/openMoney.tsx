// What money is at risk, and whose turn it is: the open breaks of all nights, in real amounts of
// each currency by age, and by the person who has them. Each figure leads to its breaks.

import type { BreakGroupRow, CountedAgain } from '../../../breaks/breaksStore.js';
import { countBreaks, countedAgain } from '../../../breaks/breaksStore.js';
import { dueRuleOf } from '../../../breaks/dueRule.js';
import { AGES, ageInDays } from '../../../core/breaks/breakAge.js';
import type { DueRule } from '../../../core/breaks/dueDate.js';
import { dueDate, overdueBefore } from '../../../core/breaks/dueDate.js';
import { addAmounts, formatAmount, type MoneySum, parseSum } from '../../../core/money.js';
import { andMore, counted, moneyText, moreOf } from '../../../core/text/amounts.js';
import type { Words } from '../../format.js';
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
  const late = { ...open, seenBefore: overdueBefore(now, rule) };
  const [ages, owners, overdue, again] = await Promise.all([
    countBreaks(deps.db, open, 'age', now, AGES.length),
    countBreaks(deps.db, open, 'owner', now, OWNERS_MAX),
    countBreaks(deps.db, late, 'owner', now, OWNERS_MAX),
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

/** How many are open of each age, in the order of the ages. */
export function openByAge({ ages }: OpenMoney): number[] {
  return AGES.map(({ name }) => ages.find(({ key }) => key === name)?.breaks ?? 0);
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
        are not added up; a bar is the part of its currency that is so old. Age is counted from the
        night that first saw the break, not from the day of the order; it is due{' '}
        {words.count(open.rule.days)} working days after it.
      </p>
      <Owners open={open} words={words} now={deps.now()} />
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

function MoneyByAge({ ages, words }: { ages: readonly BreakGroupRow[]; words: Words }) {
  const currencies = [...new Set(ages.flatMap(({ money }) => Object.keys(money)))].sort();
  const of = (currency: string, name: string): string | null =>
    ages.find(({ key }) => key === name)?.money[currency] ?? null;
  const without = ages.reduce((sum, one) => sum + one.withoutAmount, 0);
  return (
    <>
      <Table
        caption="Open money by currency and age"
        class="lists"
        columns={[
          { head: 'Currency' },
          { head: 'In all', isFigure: true },
          ...AGES.map((age) => ({ head: age.words, isFigure: true })),
        ]}
      >
        {currencies.map((currency) => {
          const cents = AGES.map(({ name }) => parseSum(of(currency, name) ?? '0.00') ?? 0n);
          const all = cents.reduce((sum, one) => sum + one, 0n);
          return (
            <tr>
              <th scope="row">{currency}</th>
              <Figure name="In all">
                <a href={`/breaks?${new URLSearchParams({ currency })}`}>
                  {words.amount(formatAmount(all), currency)}
                </a>
              </Figure>
              {AGES.map(({ name, words: age }, at) => (
                <Figure name={age}>
                  <MoneyOfAge
                    amount={of(currency, name)}
                    share={all === 0n ? 0 : Number(cents[at] ?? 0n) / Number(all)}
                    to={`/breaks?${new URLSearchParams({ currency, age: name })}`}
                    shown={(amount) => words.amount(amount, currency)}
                  />
                </Figure>
              ))}
            </tr>
          );
        })}
      </Table>
      {without === 0 ? null : (
        <p class="hint">{words.count(without)} open without an amount, in no figure above.</p>
      )}
    </>
  );
}

const BAR_ROOM = 100;

function MoneyOfAge(props: {
  amount: string | null;
  share: number;
  to: string;
  shown: (amount: string) => string;
}) {
  if (props.amount === null) return <>{'–'}</>;
  return (
    <>
      <a href={props.to}>{props.shown(props.amount)}</a>
      {/* All of a currency in one age: a full bar would say nothing. */}
      {props.share >= 1 ? null : (
        <svg
          class="share"
          viewBox={`0 0 ${BAR_ROOM} 4`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect class="fill" x={0} y={0} height={4} width={Math.max(0, props.share) * BAR_ROOM} />
        </svg>
      )}
    </>
  );
}

function Owners({ open, words, now }: { open: OpenMoney; words: Words; now: Date }) {
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
            {words.count(ageInDays(one.oldest, now))}
          </Figure>
          <td>{dueDate(one.oldest, open.rule)}</td>
          <Figure name="Overdue">
            <OverdueOf owner={one.key} breaks={overdueBy.get(one.key) ?? 0} words={words} />
          </Figure>
        </tr>
      ))}
      {moreOf(others.length).map((more) => (
        <OtherOwners more={more} others={others} {...{ open, overdueBy, words, now }} />
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
  now: Date;
}) {
  const { more, others, open, overdueBy, words, now } = props;
  const { breaks, ...sum } = sumOf(others);
  const oldest = others.reduce((first, one) => (one.oldest < first ? one.oldest : first), now);
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
      <Figure name="Days since the first was seen">{words.count(ageInDays(oldest, now))}</Figure>
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
