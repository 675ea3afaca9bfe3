// A settlement file by way of the browser: first what `--check` says of it, and only a second press
// takes exactly the bytes that were checked, by the map that was used. The rules and the reading
// are those of `tieout import settlement`. Neighbour: upload/keptFiles.ts has the file meanwhile.

import { basename } from 'node:path';
import { loadColumnMap } from '../../../config/mapFile.js';
import { ConfigurationError, InputError, messageOf, UsageError } from '../../../core/errors.js';
import type { ColumnMap } from '../../../core/mapping/columnMap.js';
import { mapFor } from '../../../core/settlement/inboxFile.js';
import { textDigest } from '../../../ledger/imports/filesBefore.js';
import type { SettlementImport } from '../../../ledger/settlement/settlementResult.js';
import { importAndSettle } from '../../../settlement/importAndSettle.js';
import type { SettlementRules } from '../../../settlement/settlement.js';
import { sizeText } from '../../format.js';
import { Form } from '../../layout/parts.js';
import type { KeptFile } from '../../upload/keptFiles.js';
import { findKept, keepFile, removeKept, takeKept } from '../../upload/keptFiles.js';
import { FILE_BYTES_MAX } from '../../upload/uploadForm.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND, refused } from '../../visit.js';
import type { Fields } from '../../visitor/fields.js';
import { Refusals, Taken } from './importResult.js';

const MAPS_MAX = 10_000;
const GONE =
  'This file is kept no more, or was taken already: it waits for an hour, and only until you ' +
  'choose another one. Choose it again on the page Settlement.';

type Files = SettlementRules['settings']['files'];

/** Only for whoever may, and only where a map is known. */
export function UploadForm({ visit, files }: { visit: Visit; files: Files }) {
  if (visit.accountsFor('importSettlement').length === 0) return null;
  if (files.length === 0) {
    return (
      <p class="hint">
        Files can be taken here once <code>settlement.files</code> names a map for them.
      </p>
    );
  }
  return (
    <Form action="/settlement/check" csrf={visit.csrf} isUpload>
      <fieldset class="decide">
        <legend>Import the acquirer's file</legend>
        <label>
          File (.csv, at most {sizeText(BigInt(FILE_BYTES_MAX))})
          <input type="file" name="upload" accept=".csv" required />
        </label>
        <label>
          Map
          <select name="map">
            <option value="">by the name of the file</option>
            {files.map(({ match, map }, at) => (
              <option value={String(at)}>
                {basename(map)} (for {match})
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Check it; nothing is taken yet</button>
      </fieldset>
      <p class="hint">
        Lines of accounts that you may not import for are refused like those of unknown ones. Larger
        files: <code>tieout import settlement FILE --map MAP</code>.
      </p>
    </Form>
  );
}

/** Keeps the file and leads to what is said of it, which can be looked at again. */
export async function checkFile(visit: Visit, rules: SettlementRules): Promise<Answer> {
  const { file, form } = visit;
  const { files } = rules.settings;
  if (file === null) return refused('Choose a file that is not empty.');
  if (!/\.csv$/i.test(file.name)) return refused('The name of the file must end in .csv.');
  const named = files.findIndex(({ map }) => map === mapFor(files, file.name));
  const at = form.text('map') === null ? named : mapAt(form, files);
  if (at < 0) return refused('No map of settlement.files is for a file of this name: choose one.');
  const kept = await keepFile(ownerOf(visit), file);
  if (kept.kind === 'refused') return refused(kept.words, kept.status);
  return { kind: 'redirect', to: `/settlement/check?sha256=${kept.sha256}&map=${at}` };
}

export async function checkPage(visit: Visit, rules: SettlementRules): Promise<Answer> {
  const asked = askedOf(visit.query, rules);
  if (asked === null) return NOT_FOUND;
  const kept = await findKept(ownerOf(visit), asked.sha256);
  if (kept === null) return refused(GONE, 409);
  return told(async () => {
    const map = loadColumnMap(asked.map, 'settlement');
    const result = await take(visit, rules, kept, { map, check: true });
    const body = (
      <>
        <h1>File {kept.name}</h1>
        <p class="hint">
          Map {basename(asked.map)}, SHA-256 <code class="value">{kept.sha256}</code>.{' '}
          <a href="/settlement">Back to settlement</a>
        </p>
        {result.kind === 'refused' ? (
          <Refusals result={result} />
        ) : (
          <>
            <Taken result={result} words={visit.words} />
            <TakeForm visit={visit} at={asked.at} sha256={kept.sha256} map={map} />
          </>
        )}
      </>
    );
    return { kind: 'page', title: 'A settlement file', section: 'Settlement', body };
  }, kept);
}

function TakeForm(props: { visit: Visit; at: number; sha256: string; map: ColumnMap }) {
  const { visit, at, sha256, map } = props;
  return (
    <Form action="/settlement/import" csrf={visit.csrf}>
      <input type="hidden" name="sha256" value={sha256} />
      <input type="hidden" name="map" value={String(at)} />
      <input type="hidden" name="seen" value={digestOf(map)} />
      <p class="buttons">
        <button type="submit" class="main">
          {visit.person.isFresh ? 'Take it: these bytes, for good' : 'Password, to take it'}
        </button>
      </p>
    </Form>
  );
}

export async function importFile(visit: Visit, rules: SettlementRules): Promise<Answer> {
  const asked = askedOf(visit.form, rules);
  if (asked === null) return refused('Choose a file on the page Settlement, and check it first.');
  return told(async () => {
    const map = loadColumnMap(asked.map, 'settlement');
    if (digestOf(map) !== visit.form.text('seen')) {
      return refused('The map has changed since the file was checked: check it again.', 409);
    }
    const kept = await takeKept(ownerOf(visit), asked.sha256);
    if (kept === null) return refused(GONE, 409);
    return told(() => takeNow(visit, rules, kept, map), kept);
  });
}

async function takeNow(
  visit: Visit,
  rules: SettlementRules,
  kept: KeptFile,
  map: ColumnMap,
): Promise<Answer> {
  try {
    const result = await take(visit, rules, kept, { map, check: false });
    await visit.record({
      action: 'import settlement',
      subject: `${kept.name} ${kept.sha256}`,
      outcome: result.kind === 'refused' ? 'refused' : `${result.inserted} lines`,
    });
    const body = (
      <>
        <h1>File {kept.name}</h1>
        <p>
          <a href="/settlement">Back to settlement</a>
        </p>
        {result.kind === 'refused' ? (
          <Refusals result={result} />
        ) : (
          <Taken result={result} words={visit.words} />
        )}
      </>
    );
    return { kind: 'page', title: 'What was taken', section: 'Settlement', body };
  } finally {
    await removeKept(kept);
  }
}

function take(
  visit: Visit,
  rules: SettlementRules,
  { path }: KeptFile,
  options: { map: ColumnMap; check: boolean },
): Promise<SettlementImport> {
  const { db, config, now } = visit.deps;
  const deps = { db, config, rules, accountIds: visit.accounts, now };
  return importAndSettle(deps, [path], options);
}

const REFUSALS = [ConfigurationError, InputError, UsageError];

/** A map or a file that cannot be read is told; where the file lies is nobody's business. */
async function told(work: () => Promise<Answer>, kept?: KeptFile): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!REFUSALS.some((kind) => error instanceof kind)) throw error;
    const words = messageOf(error);
    return refused(kept === undefined ? words : words.replaceAll(kept.path, () => kept.name));
  }
}

function askedOf(fields: Fields, { settings }: SettlementRules) {
  const sha256 = fields.text('sha256', 64) ?? '';
  const at = mapAt(fields, settings.files);
  const map = settings.files[at]?.map;
  return map === undefined || !/^[0-9a-f]{64}$/.test(sha256) ? null : { sha256, at, map };
}

/** -1: there is no such map. */
function mapAt(fields: Fields, files: Files): number {
  const at = fields.whole('map', MAPS_MAX) ?? -1;
  return at < files.length ? at : -1;
}

function ownerOf({ deps, person }: Visit) {
  return { dataDir: deps.config.dataDir, userId: person.userId, now: deps.now() };
}

function digestOf(map: ColumnMap): string {
  return textDigest(JSON.stringify(map));
}
