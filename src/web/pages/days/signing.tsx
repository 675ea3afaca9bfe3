// Whether a business day of an account can be signed and what speaks against it, in one sentence
// and as a checklist: the same on the page of the day, at the head of the statement, and before
// several accounts are signed at once.

import type { ComponentChildren } from 'preact';
import { areMany, byName, firstNamed } from '../../../core/accounts/alike.js';
import { CHECKLIST_HEADS, workbookWords } from '../../../core/runs/businessDay.js';
import type { ChecklistLine, ChecklistTopic } from '../../../core/runs/closingChecklist.js';
import { movedWords, signingAnswer } from '../../../core/runs/closingChecklist.js';
import { signedOnWords, whyCloseAgain } from '../../../core/runs/sinceClosed.js';
import { andMore, counted } from '../../../core/text/amounts.js';
import { withoutCommands } from '../../../core/text/commandWords.js';
import type { DayVerdict } from '../../../days/days.js';
import type { DayToSign } from '../../../days/shownDay.js';
import type { SigningVerb } from '../../../days/signDay.js';
import { Name, OrderLink } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { DIFFERS } from './signedFigures.js';

interface OfDay {
  date: string;
  day: DayToSign;
}

/** Reasons, or accounts with theirs, that are named in a sentence; a list has all. */
const NAMED = 3;

export function SigningSentence({ date, day }: OfDay) {
  return (
    <p class="sentence" role="status">
      This {answer({ date, day }, 'below')}
    </p>
  );
}

/** What follows on "this" or on the name of an account; `more` says where the other reasons are. */
function answer({ date, day }: OfDay, more: string): ComponentChildren {
  const { state, lines } = day;
  if (state === 'locked')
    return ['day is signed: prepared and reviewed.', otherwise({ date, day })];
  if (state === 'closed') {
    return ['day is prepared; a review is still to come.', otherwise({ date, day })];
  }
  const { canBeSigned, because } = signingAnswer(lines);
  const links = because.slice(0, NAMED).map((line, at) => (
    <>
      {at === 0 ? '' : '; '}
      <a href={TO[line.topic](day.accountId, date)}>{withoutCommands(line.words)}</a>
    </>
  ));
  const between = canBeSigned ? ', knowing what is still open: ' : ', because ';
  return (
    <>
      day can be signed: <strong>{canBeSigned ? 'yes' : 'not yet'}</strong>
      {links.length === 0 ? '' : between}
      {links}
      {because.length > NAMED ? `; and more, ${more}` : ''}.
    </>
  );
}

/** In one cell: whether it can be signed, and the first of what stands in the way. */
export function ShortAnswer({ date, day }: OfDay) {
  const { state, lines } = day;
  if (state !== 'open') return <>{state === 'locked' ? 'it is signed' : 'it is prepared'}</>;
  if (signingAnswer(lines).canBeSigned) return <>yes</>;
  return (
    <>
      not yet: <InTheWay date={date} day={day} />
    </>
  );
}

/** The first of it, and how much more there is. */
function InTheWay({ date, day: { accountId, lines } }: OfDay) {
  const { because } = signingAnswer(lines);
  const [first] = because;
  if (first === undefined) return null;
  return (
    <>
      <a href={TO[first.topic](accountId, date)}>{withoutCommands(first.words)}</a>
      {andMore(because.length - 1)}
    </>
  );
}

/** That the newest revision has other figures than the one that is signed. */
function otherwise({ date, day: { accountId, state, signedOn } }: OfDay): ComponentChildren {
  if (signedOn.length === 0) return null;
  const again = state === 'closed' ? whyCloseAgain(signedOn) : null;
  const said = again ?? `it was ${signedOn.map(signedOnWords).join('; it was ')}`;
  return (
    <>
      {' '}
      But {said}: <a href={`${dayPath(accountId, date)}#${DIFFERS}`}>what differs</a>.
    </>
  );
}

/** Of the checklist on the page of a day. */
const CHECKLIST = 'checklist';

/** Where a line of the checklist is looked into. */
const TO: Readonly<Record<ChecklistTopic, (account: string, date: string) => string>> = {
  night: (_account, date) => `/nights/${date}`,
  gaps: (_account, date) => `/days?until=${date}`,
  statement: (account, date) => statementPath(date, account),
  batches: (account) => `/settlement?${new URLSearchParams({ account })}#batches`,
  ledger: dayPath,
  movedAfter: dayPath,
  breaks: (account) => `/breaks?${new URLSearchParams({ account })}`,
  notSettled: (account) => `/breaks?${new URLSearchParams({ account, kind: 'not_settled' })}`,
  waived: (account) => `/breaks?${new URLSearchParams({ account, state: 'waived' })}`,
  suspense: (account, date) => `${dayPath(account, date)}#${CHECKLIST}`,
  unknown: (account) => `/instructions?${new URLSearchParams({ account, state: 'unknown' })}`,
  waiting: (account) => `/instructions?${new URLSearchParams({ account })}`,
};

/** Behind a closed day: whoever reviews or looks back sees it first. */
export function ChangedSince({ day }: { day: DayToSign }) {
  const { accountId, changed, changedAbout } = day;
  if (changed === null) return null;
  return (
    <p class="problem" role="alert">
      Changed since it was closed: {changed}.
      <About accountId={accountId} about={changedAbout} />
    </p>
  );
}

/** The orders that a line is about, each to be looked at. */
export function About(props: {
  accountId: string;
  about: NonNullable<ChecklistLine['about']> | null | undefined;
}) {
  const { accountId, about } = props;
  if (!about) return null;
  const more = about.count - about.named.length;
  return (
    <span class="hint">
      {' '}
      {about.named.map(({ orderNo, refundId }, at) => (
        <>
          {at === 0 ? '' : ', '}
          {refundId === null ? null : (
            <>
              refund <Name name={refundId} /> of{' '}
            </>
          )}
          <OrderLink accountId={accountId} orderNo={orderNo} />
        </>
      ))}
      {andMore(more)}
    </span>
  );
}

/** What of the checklist is not well, in one cell. */
export function Against({ date, day: { accountId, lines } }: OfDay) {
  const against = lines.filter(({ isWell }) => !isWell);
  if (against.length === 0) return <>nothing</>;
  return (
    // In a cell by itself a link would stand on a line of its own.
    <span>
      {against.map(({ topic, words }, at) => (
        <>
          {at === 0 ? '' : '; '}
          <a href={TO[topic](accountId, date)}>{withoutCommands(words)}</a>
        </>
      ))}
    </span>
  );
}

export function BeforeSigning({ date, day }: OfDay) {
  if (day.state === 'locked') return null;
  return (
    <>
      <h2 id={CHECKLIST}>{CHECKLIST_HEADS[day.state]}</h2>
      <Checklist date={date} day={day} />
    </>
  );
}

/** As it stands now: whoever reviews looks at it again. */
export function Checklist({ date, day }: OfDay) {
  const { accountId, lines } = day;
  return (
    <>
      <SignedOn day={day} />
      <ul class="checklist">
        {lines.map(({ isWell, words, topic, about }) => (
          <li>
            {isWell ? '✓ ' : '✗ '}
            {isWell || topic === 'suspense' ? (
              withoutCommands(words)
            ) : (
              <a href={TO[topic](accountId, date)}>{withoutCommands(words)}</a>
            )}
            <About accountId={accountId} about={about} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** The press is held to this revision: one that is written meanwhile is looked at first. */
function SignedOn({ day: { workbook, state } }: { day: DayToSign }) {
  if (state === 'locked') return null;
  return <p>Who signs now signs on {workbookWords(workbook)}.</p>;
}

/** "2026-11-20 on revision 2 of the workbook, sha256 1a2b3c4d5e6f" */
export function signedWords({
  dates,
  workbooks,
}: Pick<Extract<DayVerdict, { kind: 'done' }>, 'dates' | 'workbooks'>): string {
  return dates
    .map((date) => {
      const on = workbooks?.find(({ businessDate }) => businessDate === date);
      return workbooks === undefined ? date : `${date} on ${workbookWords(on ?? null)}`;
    })
    .join('; ');
}

/** Why the statement of a date and its day say different figures; it stands beside both. */
export function MovedAfter(props: Pick<DayToSign, 'moved' | 'isRemoved'> & { day?: string }) {
  const { moved, isRemoved, day } = props;
  return (
    <>
      {movedWords(moved, isRemoved).map((words) => (
        <p class="hint">
          Moved {words}.{day === undefined ? null : <a href={day}> Its orders</a>}
        </p>
      ))}
    </>
  );
}

export function dayPath(accountId: string, date: string): string {
  return `/days/${encodeURIComponent(accountId)}/${date}`;
}

/** Of one account where it is named, else of all that the reader may see. */
export function statementPath(date: string, account?: string): string {
  const query = account === undefined ? '' : `?${new URLSearchParams({ account })}`;
  return `/nights/${date}/statement${query}`;
}

export function signAllPath(verb: SigningVerb, date: string): string {
  return `/days/all/${verb}?${new URLSearchParams({ date })}`;
}

interface OfAll {
  visit: Visit;
  date: string;
  days: readonly DayToSign[];
}

/** Of each account, with where it is signed; and where all of them are, for who may. */
export function SigningOfAll({ visit, date, days }: OfAll) {
  const own = visit.accountsFor('closeDays');
  const may = (verb: SigningVerb) =>
    days.filter((day) => nextVerb(day) === verb && own.includes(day.accountId)).length;
  return (
    <>
      <ul class="signing">
        {(areMany(days) ? [] : days).map((day) => {
          const path = dayPath(day.accountId, date);
          return (
            <li>
              Account {day.accountId}: this {answer({ date, day }, 'on its page')}{' '}
              <a href={path}>The day of {day.accountId}</a>
              {day.changed === null ? null : (
                <strong> Changed since it was closed: {day.changed}.</strong>
              )}
            </li>
          );
        })}
        {areMany(days) ? <SigningOfMany days={days} date={date} /> : null}
      </ul>
      {days.every(({ state }) => state === 'locked') ? null : (
        <p>{signedWhere(date, may('close'), may('lock'))}</p>
      )}
    </>
  );
}

/** So many stand so, and the first of them by name; the table of statements has all. */
function SigningOfMany({ days, date }: Pick<OfAll, 'days' | 'date'>) {
  const stands = (day: DayToSign): string => {
    if (day.state !== 'open') return day.state;
    return signingAnswer(day.lines).canBeSigned ? 'yes' : 'notYet';
  };
  const of = (standing: string) => days.filter((day) => stands(day) === standing);
  const said = (found: readonly DayToSign[], words: string) =>
    found.length === 0 ? null : (
      <li>
        {counted(found.length, 'account')}: {words}:{' '}
        {firstNamed(found.map(({ accountId }) => accountId).toSorted(byName))}.
      </li>
    );
  const notYet = of('notYet');
  return (
    <>
      {notYet.length === 0 ? null : (
        <li>
          {counted(notYet.length, 'account')}: this day cannot be signed yet:{' '}
          {notYet.slice(0, NAMED).map((day, at) => (
            <>
              {at === 0 ? '' : ', '}
              <a href={dayPath(day.accountId, date)}>{day.accountId}</a> (
              <InTheWay date={date} day={day} />)
            </>
          ))}
          {andMore(notYet.length - NAMED)}.
        </li>
      )}
      {said(of('yes'), 'this day can be signed')}
      {said(of('closed'), 'this day is prepared; a review is still to come')}
      {said(of('locked'), 'this day is signed: prepared and reviewed')}
      {said(
        days.filter(({ changed }) => changed !== null),
        'something has changed since the day was closed',
      )}
      {said(
        days.filter(({ signedOn }) => signedOn.length > 0),
        'the newest revision has other figures than the one that was signed',
      )}
    </>
  );
}

/** What is still to be signed; null: nothing. */
function nextVerb({ state, signedOn }: DayToSign): SigningVerb | null {
  if (state === 'locked') return null;
  return state === 'open' || whyCloseAgain(signedOn) !== null ? 'close' : 'lock';
}

function signedWhere(date: string, toClose: number, toLock: number): ComponentChildren {
  if (toClose + toLock === 0) {
    return (
      <span class="hint">
        Finance signs: who closes the day has prepared it, who locks it has reviewed it.
      </span>
    );
  }
  return (
    <>
      {toClose === 0 ? null : (
        <a href={signAllPath('close', date)}>Sign as prepared: what one press would close</a>
      )}
      {toClose > 0 && toLock > 0 ? ' · ' : null}
      {toLock === 0 ? null : (
        <a href={signAllPath('lock', date)}>Sign as reviewed: what one press would lock</a>
      )}
    </>
  );
}
