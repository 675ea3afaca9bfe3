// Where one comes back to after giving the password again: the page that the form stood on, with
// the same rows ticked. Only addresses of ours, and of rows only their numbers: what is approved
// then is what the page shows then.

import type { Fields } from './fields.js';

/** More ticks than these would make an address too long for some proxies. */
const TICKS_MAX = 200;
/** What an address may hold as it is: a form writes a blank as a plus, an order number has more. */
const PLAIN = /^\/(?![/\\])[\w\-./?=&%+*!~'(),:;@$]*$/;

/** A place of ours to go on to; anything that could lead elsewhere is the first page. */
export function inside(next: string | null): string {
  return next !== null && PLAIN.test(next) ? next : '/';
}

/**
 * The address of the form, as the browser names it, else the list that the decision belongs to: a
 * form may stand on what a press answered, to which no address leads back. `pages` are those that
 * do.
 */
export function backOf(
  path: string,
  referer: string | undefined,
  form: Fields,
  pages: ReadonlySet<string>,
): string {
  const first = path.split('/')[1] ?? '';
  // The nights are on the first page.
  const list = first === 'nights' ? '/' : `/${first}`;
  const named = URL.canParse(referer ?? '') ? new URL(referer ?? '') : null;
  const from = named === null ? '' : `${named.pathname}${named.search}`;
  const isAnswer = named?.pathname === path && !pages.has(path);
  const isOurs = PLAIN.test(from) && !from.startsWith('/confirm') && !isAnswer;
  const url = new URL(isOurs ? from : list, 'http://none/');
  const ids = [...(form.picks('id')?.keys() ?? [])].slice(0, TICKS_MAX);
  url.searchParams.delete('ticked');
  if (ids.length > 0) url.searchParams.set('ticked', ids.join('.'));
  return `${url.pathname}${url.search}`;
}

/** The rows that were ticked before the password was asked for. */
export function tickedOf(query: Fields): ReadonlySet<string> {
  const text = query.text('ticked', 20 * TICKS_MAX) ?? '';
  return new Set(text.split('.').filter((id) => /^\d{1,18}$/.test(id)));
}
