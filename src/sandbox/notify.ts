// Posts the small notifications of `--notify`. The document shows that payments and payouts may
// name a notify_url and nothing of what is sent there, so all of it is the sandbox's own. Only
// addresses on this machine are called, once each, and an answer is never waited for.

const CALL_TIMEOUT_MS = 5_000;
const UNDERWAY_MAX = 16;
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

export interface Notifier {
  notify(url: string | undefined, fields: Readonly<Record<string, string>>): void;
  /** Gives up what is under way. */
  stop(): void;
}

/** Best effort: what cannot be delivered is lost, and past a few under way none is begun. */
export function openNotifier(): Notifier {
  const ended = new AbortController();
  let underway = 0;
  return {
    notify(url, fields) {
      if (url === undefined || !isHere(url) || underway >= UNDERWAY_MAX) return;
      underway += 1;
      post(url, fields, ended.signal).finally(() => {
        underway -= 1;
      });
    },
    stop: () => ended.abort(),
  };
}

function isHere(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && LOOPBACK_HOSTS.has(hostname);
}

async function post(
  url: string,
  fields: Readonly<Record<string, string>>,
  ended: AbortSignal,
): Promise<void> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
      redirect: 'error',
      signal: AbortSignal.any([ended, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
    });
    await answer.body?.cancel();
  } catch {
    // Nobody listens there, or not in time: a notification is a courtesy and never an error.
  }
}
