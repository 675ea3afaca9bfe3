// The frame of every page: test or live, where one can go, the search box, who is signed in. What a
// person may not do is not linked. Plain HTML that works without scripts; one stylesheet, one small
// script, both from files.

import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Right } from '../../core/access.js';
import { assetPath } from '../assets.js';
import { type Of, type SectionName, sectionsFor } from '../sections.js';

export interface Frame {
  title: string;
  environment: 'test' | 'live';
  section: SectionName;
  /** null: nobody is signed in */
  person: { name: string; can(right: Right, of: Of): boolean } | null;
  csrf: string;
  /** what stops the sending now, in words */
  brakes: readonly string[];
  zone: string;
  version: string;
  /** settlement is kept */
  hasSettlement: boolean;
  /** why the form was refused that one comes back to */
  problem?: string | null;
  /** the page changes while one looks at it */
  isLive?: boolean;
}

export function renderPage(frame: Frame, body: VNode): string {
  return `<!doctype html>${renderToString(<Document frame={frame}>{body}</Document>)}`;
}

function Document({ frame, children }: { frame: Frame; children: ComponentChildren }) {
  const { person } = frame;
  return (
    <html lang="en" class={frame.environment}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${frame.title} · tieout ${frame.environment.toUpperCase()}`}</title>
        <link rel="icon" href={assetPath('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={assetPath('console.css')} />
        <script src={assetPath('console.js')} defer />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <a class="brand" href="/">
            tieout
          </a>
          <span class="environment">{frame.environment}</span>
          {person === null ? null : <Bar frame={frame} person={person} />}
        </header>
        {frame.brakes.length === 0 ? null : (
          <Stopped brakes={frame.brakes} hasPage={person?.can('look', 'configured') === true} />
        )}
        <main id="main" tabIndex={-1} data-live={frame.isLive === true ? 'yes' : undefined}>
          {frame.problem ? (
            <p class="problem" role="alert">
              {frame.problem}
            </p>
          ) : null}
          {children}
        </main>
        <footer>
          Times in {frame.zone}. tieout {frame.version}.{' '}
          {frame.environment === 'test' ? 'Test: no real money.' : 'Live: real money.'}
        </footer>
      </body>
    </html>
  );
}

function Bar({ frame, person }: { frame: Frame; person: NonNullable<Frame['person']> }) {
  return (
    <>
      <search>
        <form class="search" action="/search" method="get">
          <label class="unseen" for="q">
            Order, transaction or refund
          </label>
          <input
            id="q"
            name="q"
            type="search"
            placeholder="Order, transaction, refund"
            maxLength={128}
            required
          />
          <button type="submit">Find</button>
        </form>
      </search>
      <StopSending csrf={frame.csrf} person={person} />
      <form class="who" action="/sign-out" method="post">
        <input type="hidden" name="_csrf" value={frame.csrf} />
        <a href="/password" title="Password and sessions">
          {person.name}
        </a>
        <button type="submit">Sign out</button>
      </form>
      <nav aria-label="Sections">
        {sectionsFor(person.can, frame.hasSettlement).map(({ name, path }) => (
          <a href={path} aria-current={frame.section === name ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
    </>
  );
}

/** `hasPage`: of configured accounts alone it is said where to look. */
function Stopped({ brakes, hasPage }: { brakes: readonly string[]; hasPage: boolean }) {
  return (
    <aside class="stopped" aria-label="Sending is stopped">
      <strong>Sending is stopped</strong> {brakes.join('; ')}.{' '}
      {hasPage ? <a href="/brake">Look, or resume</a> : null}
    </aside>
  );
}

/** For everybody who may: at once for all accounts, on its page for some. */
function StopSending({ csrf, person }: { csrf: string; person: NonNullable<Frame['person']> }) {
  if (!person.can('brake', 'configured')) return null;
  if (!person.can('brake', 'all')) {
    return (
      <a class="stop" href="/brake">
        Stop sending
      </a>
    );
  }
  return (
    <details class="stop">
      <summary>Stop sending</summary>
      <form action="/brake/on" method="post">
        <input type="hidden" name="_csrf" value={csrf} />
        <label>
          Reason to stop sending, for all accounts
          <input name="words" size={32} maxLength={1000} required />
        </label>
        <button type="submit" class="danger">
          Stop now
        </button>
        <a href="/brake">For one account</a>
      </form>
    </details>
  );
}
