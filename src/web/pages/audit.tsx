// For an auditor: where the chains of digests end, whether they are whole from their first link to
// their last, and everything that people decided, found by any word of it. Checking reads every
// fact there is, so it is asked for with a button, and done once for all who ask meanwhile.

import type { ChainEnd, TrailRow } from '../../audit/auditTrailStore.js';
import { auditTrail, chainEnds } from '../../audit/auditTrailStore.js';
import { ownKey } from '../../audit/headsKey.js';
import { headsPath } from '../../audit/signedHeads.js';
import { areMany } from '../../core/accounts/alike.js';
import { decisionKeys } from '../../core/decisions/decisionKeys.js';
import { nameLabel } from '../../core/instructions/decider.js';
import { redactedLine } from '../../core/runs/redaction.js';
import { removedLine } from '../../core/runs/removal.js';
import { countText, moreOf } from '../../core/text/amounts.js';
import { stateLabel } from '../../core/text/labels.js';
import type { Database, Db } from '../../database/db.js';
import type { DatabaseFinding } from '../../verify/checkDatabase.js';
import {
  checkDatabase,
  decisionLines,
  definitionLines,
  headLines,
} from '../../verify/checkDatabase.js';
import { checkHeads } from '../../verify/signedHeadsStore.js';
import type { ChainFinding } from '../../verify/verifyChainStore.js';
import type { Words } from '../format.js';
import { pageOf } from '../layout/many.js';
import { Empty, Figure, Form, OrderLink, Pager, Table } from '../layout/parts.js';
import type { Answer, Visit } from '../visit.js';
import { dayPath } from './days/signing.js';

const ROWS_A_PAGE = 100;
const PAGES_MAX = 20_000;
/** Links, broken ones and disagreements that a page names. */
const NAMED_MAX = 100;

export async function auditPage(visit: Visit): Promise<Answer> {
  const { deps, query, words, csrf } = visit;
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const text = query.text('text', 128);
  // One more than a page tells whether there is a next one.
  const found = await auditTrail(deps.db, text, ROWS_A_PAGE + 1, at * ROWS_A_PAGE);
  const ends = await chainEnds(deps.db);
  const isMany = areMany(ends);
  const chains = pageOf(ends, query, 'chains');
  const next = (page: number, name = 'page'): string =>
    `/audit?${new URLSearchParams({ text: text ?? '', [name]: String(page + 1) })}`;
  const body = (
    <>
      <h1>Audit</h1>
      {isMany ? (
        <p>
          <a href="#chains">{countText(ends.length)} chains of digests</a> are listed below what
          people decided.
        </p>
      ) : (
        <ChainTable ends={ends} words={words} />
      )}
      <Form action="/audit/check" csrf={csrf}>
        <fieldset class="decide">
          <legend>Is everything that was sealed still there, and unchanged?</legend>
          <button type="submit" class="main">
            Check the chains from their first link
          </button>
          <span class="hint">It reads every fact; with years of nights that takes minutes.</span>
        </fieldset>
      </Form>
      <h2>What people decided</h2>
      <form class="filters" action="/audit" method="get" aria-label="Search">
        <label>
          Person, order, decision or reason
          <input name="text" value={text ?? ''} maxLength={128} />
        </label>
        <button type="submit">Search</button>
      </form>
      {found.length === 0 ? (
        <Empty>
          {text === null ? 'Nobody has decided anything yet.' : 'Nothing fits these words.'}{' '}
          Sign-ins and downloads are under <a href="/activity">Activity</a>.
        </Empty>
      ) : (
        <Trail rows={found.slice(0, ROWS_A_PAGE)} visit={visit} />
      )}
      <Pager at={at} hasNext={found.length > ROWS_A_PAGE} to={next} />
      {isMany ? (
        <section id="chains" aria-label="Chains">
          <ChainTable ends={chains.shown} words={words} />
          <Pager {...chains} to={(to) => `${next(to, 'chains')}#chains`} />
        </section>
      ) : null}
    </>
  );
  return { kind: 'page', title: 'Audit', section: 'Audit', body };
}

function ChainTable({ ends, words }: { ends: readonly ChainEnd[]; words: Words }) {
  if (ends.length === 0) return <Empty>Nothing is sealed yet: the first night does it.</Empty>;
  return (
    <Table
      caption="Where each chain of digests ends"
      isCaptionSeen
      columns={[
        { head: 'Chain' },
        { head: 'Links', isFigure: true },
        { head: 'Sealed' },
        { head: 'Night' },
        { head: 'Ends in' },
      ]}
    >
      {ends.map((end) => (
        <tr>
          <th scope="row">{chainName(end.accountId)}</th>
          <Figure>{words.count(end.links)}</Figure>
          <td>{words.at(end.sealedAt)}</td>
          <td>{end.businessDate ?? ''}</td>
          <td class="digest">
            <code>{end.sha256}</code>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function chainName(accountId: string): string {
  return accountId === '' ? 'runs and settings' : accountId;
}

function Trail({ rows, visit }: { rows: readonly TrailRow[]; visit: Visit }) {
  const { words } = visit;
  return (
    <Table
      caption="What people decided, newest first"
      class="lists fits trail"
      columns={[
        { head: 'When' },
        { head: 'Who' },
        { head: 'What' },
        { head: 'Account' },
        { head: 'About' },
        { head: 'Why' },
        { head: 'Sealed' },
      ]}
    >
      {rows.map((row) => (
        <tr>
          <th scope="row">{words.at(row.at)}</th>
          <td>{nameLabel(row.who, row.isClaim)}</td>
          <td>
            <WhatLink row={row} />
          </td>
          <td>{row.accountId}</td>
          <td>
            {row.kind === 'instruction' || row.kind === 'break' ? (
              <OrderLink accountId={row.accountId} orderNo={row.about} />
            ) : (
              row.about
            )}
          </td>
          <td>{words.free(row.why, [row.about])}</td>
          <td>{row.isSealed ? 'yes' : 'not yet'}</td>
        </tr>
      ))}
    </Table>
  );
}

function WhatLink({ row }: { row: TrailRow }) {
  const { what } = row;
  switch (row.kind) {
    case 'instruction':
      return <a href={`/instructions/${row.id}`}>{what}</a>;
    case 'break':
      return <a href={`/breaks/${row.id}`}>{what}</a>;
    case 'day':
      return <a href={dayPath(row.accountId, row.id)}>{what}</a>;
    case 'brake':
      return <a href="/brake">{what}</a>;
  }
}

/** A check that runs is waited for by all who ask: it is the same answer, and no small work. */
const underWay = new WeakMap<Database, Promise<DatabaseFinding>>();

function foundNow({ db, config }: Pick<Visit['deps'], 'db' | 'config'>): Promise<DatabaseFinding> {
  const running = underWay.get(db);
  if (running !== undefined) return running;
  const { dataDir, decisions } = config;
  const heads = (tx: Db) => checkHeads(tx, headsPath(dataDir), () => ownKey(dataDir));
  const begun = checkDatabase(db, heads, decisionKeys(decisions)).finally(() =>
    underWay.delete(db),
  );
  underWay.set(db, begun);
  return begun;
}

export async function checkChains(visit: Visit): Promise<Answer> {
  const { isSound, definitions, checked } = await foundNow(visit.deps);
  const isAnswered = 'chain' in checked;
  const sentence = isAnswered
    ? chainSentence(isSound, checked.chain)
    : `Not checked: ${checked.problem}.`;
  const outcome = isAnswered ? outcomeOf(isSound, definitions, checked) : sentence;
  await visit.record({ action: 'check chains', outcome });
  const told = [
    ...definitionLines(definitions),
    ...(isAnswered ? [...headLines(checked.heads), ...decisionLines(checked.decisions)] : []),
  ];
  const body = (
    <>
      <h1>The chains</h1>
      <p class={isSound ? 'sentence' : 'sentence problem'} role="status">
        {sentence}
      </p>
      {isAnswered ? (
        <p>
          They end in <code>{checked.head}</code>. Whoever rewrote everything would end in another
          digest: compare it with the one that somebody else wrote down.
        </p>
      ) : null}
      {isAnswered ? <Broken found={checked.chain} /> : null}
      {told.slice(0, NAMED_MAX).map((line) => (
        <p class={isSound ? 'hint' : 'problem'}>{line}</p>
      ))}
      <More rest={told.length - NAMED_MAX} />
      <p>
        <a href="/audit">Back to the audit</a>
      </p>
    </>
  );
  return { kind: 'page', title: 'The chains', section: 'Audit', body };
}

function More({ rest }: { rest: number }) {
  return moreOf(rest).map((more) => <p class="problem">{more}: `tieout verify` names them.</p>);
}

function outcomeOf(
  isSound: boolean,
  { altered }: DatabaseFinding['definitions'],
  { chain, head, heads }: Extract<DatabaseFinding['checked'], { chain: ChainFinding }>,
): string {
  if (isSound) return `whole, ends in ${head}`;
  const { broken } = chain;
  const signed = heads.broken.length;
  return `${broken.length} broken, ${altered.length} altered, ${signed} signed otherwise`;
}

function chainSentence(isSound: boolean, chain: ChainFinding): string {
  if (isSound) {
    return `Whole: ${chain.links} links in ${chain.chains} chains, none missing, none changed.`;
  }
  return (
    `Not whole: ${chain.broken.length} of ${chain.chains} chains are broken, ` +
    `${chain.disagreements.length} rows say something else than their history; what else was ` +
    'altered is named below.'
  );
}

function Broken({ found }: { found: ChainFinding }) {
  const { broken, disagreements, unsealed } = found;
  const pending = unsealed.reduce((sum, { facts, strayed }) => sum + facts - strayed, 0);
  const strayed = unsealed.reduce((sum, one) => sum + one.strayed, 0);
  return (
    <>
      {found.removed.map((one) => (
        <p class="hint">{removedLine(one)}; its digests are in the chain.</p>
      ))}
      {found.redacted.map((one) => (
        <p class="hint">{redactedLine(one)}.</p>
      ))}
      {broken.length === 0 ? null : (
        <Table
          caption="The first broken link of each chain; what follows it proves nothing"
          isCaptionSeen
          columns={[
            { head: 'Chain' },
            { head: 'Link', isFigure: true },
            { head: 'What it seals' },
            { head: 'Night' },
            { head: 'What is wrong' },
          ]}
        >
          {broken.slice(0, NAMED_MAX).map((link) => (
            <tr>
              <th scope="row">{chainName(link.accountId)}</th>
              <Figure>{link.linkNo.toString()}</Figure>
              <td>{link.what ?? ''}</td>
              <td>{link.businessDate ?? ''}</td>
              <td>{link.reason}</td>
            </tr>
          ))}
        </Table>
      )}
      <More rest={broken.length - NAMED_MAX} />
      {disagreements.slice(0, NAMED_MAX).map(({ accountId, orderNo, what, state, history }) => (
        <p class="problem">
          {what} of {accountId} {orderNo ?? ''} is {stateLabel(state)}, but its history says{' '}
          {stateLabel(history ?? 'nothing')}.
        </p>
      ))}
      <More rest={disagreements.length - NAMED_MAX} />
      {strayed === 0 ? null : (
        <p class="problem">Links are gone: {strayed} facts bear one that no chain has.</p>
      )}
      {pending === 0 ? null : (
        <p class="hint">
          Not sealed yet: {pending} facts. The next run, or the next decision, seals them.
        </p>
      )}
    </>
  );
}
