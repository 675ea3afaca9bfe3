// What `tieout doctor` says of the schema: is it made as this version makes it? Neighbour:
// doctor.ts prints it.

import { andMore } from '../../../core/text/amounts.js';
import {
  checkDefinitions,
  trustNobodysNames,
} from '../../../verify/definitions/definitionsStore.js';
import type { App } from '../../app.js';

interface Made {
  name: string;
  kind: 'ok' | 'problem';
  words: string;
}

/** Guards that are gone or other ones, before a night relies on them. */
export async function definitionsCheck({ db }: App): Promise<Made> {
  const { altered, compared, notCompared } = await db.transaction(async (tx) => {
    await trustNobodysNames(tx);
    return checkDefinitions(tx);
  });
  const name = 'definitions';
  if (altered.length === 0) {
    const rest = notCompared === null ? '' : `; ${notCompared}`;
    return { name, kind: 'ok', words: `${compared} tables, guards and functions compared${rest}` };
  }
  const named = altered.slice(0, ALTERED_NAMED_MAX).map((one) => `${one.object} ${one.problem}`);
  const more = andMore(altered.length - named.length);
  return {
    name,
    kind: 'problem',
    words: `not as this version makes them: ${named.join('; ')}${more} (\`tieout verify\`)`,
  };
}

const ALTERED_NAMED_MAX = 5;
