// Whether a business day of an account can be signed and what speaks against it, in one sentence
// and as a checklist: the same on the page of the day, at the head of the statement, and before
// several accounts are signed at once.

import type { ComponentChildren } from 'preact';
import { CHECKLIST_HEADS, workbookWords } from '../../../core/runs/businessDay.js';
import type { ChecklistLine, ChecklistTopic } from '../../../core/runs/closingChecklist.js';
import { movedWords, signingAnswer } from '../../../core/runs/closingChecklist.js';
import { signedOnWords, whyCloseAgain } from '../../../core/runs/sinceClosed.js';
import { andMore } from '../../../core/text/amounts.js';
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

/** Reasons that are named in the sentence; the checklist has all. */
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

/** Where a line of the checklist is looked into. */
const TO: Readonly<Record<ChecklistTopic, (account: string, date: string) => string>> = {
  night: (_account, date) => `/nights/${date}`,
  gaps: (_account, date) => `/days?until=${date}`,
  statement: (_account, date) => `/nights/${date}/statement`,
  ledger: dayPath,
  movedAfter: dayPath,
  breaks: (account) => `/breaks?${new URLSearchParams({ account })}`,
  notSettled: (account) => `/breaks?${new URLSearchParams({ account, kind: 'not_settled' })}`,
  waived: (account) => `/breaks?${new URLSearchParams({ account, state: 'waived' })}`,
  suspense: dayPath,
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

export function BeforeSigning({ date, day }: OfDay) {
  if (day.state === 'locked') return null;
  return (
    <>
      <h2>{CHECKLIST_HEADS[day.state]}</h2>
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
            {isWell ? words : <a href={TO[topic](accountId, date)}>{withoutCommands(words)}</a>}
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
export function MovedAfter({ moved }: { moved: DayToSign['moved'] }) {
  return (
    <>
      {movedWords(moved).map((words) => (
        <p class="hint">Moved {words}.</p>
      ))}
    </>
  );
}

export function dayPath(accountId: string, date: string): string {
  return `/days/${encodeURIComponent(accountId)}/${date}`;
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
        {days.map((day) => {
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
      </ul>
      {days.every(({ state }) => state === 'locked') ? null : (
        <p>{signedWhere(date, may('close'), may('lock'))}</p>
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
