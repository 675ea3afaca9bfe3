// Who uses a sandbox that tieout started by itself. Users announce themselves again and again; one
// that falls silent is forgotten. When the last one has left, or nobody came for a while, the
// sandbox ends. Holds no accounts and no HTTP: server.ts passes the announcements on.

/** A user that is silent for so long is gone. */
export const USER_SILENCE_MS = 20_000;
const POLL_MS = 1_000;

export interface Users {
  announce(id: string): void;
  leave(id: string): void;
  stop(): void;
}

/** Calls `onUnused` once, when nobody is left; a fresh sandbox waits for its first user. */
export function trackUsers(deps: { now: () => Date; onUnused: () => void }): Users {
  const lastSeen = new Map<string, number>();
  let waitingSince = deps.now().getTime();
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    clearInterval(timer);
    deps.onUnused();
  };
  const timer = setInterval(() => {
    const now = deps.now().getTime();
    for (const [id, seen] of lastSeen) if (now - seen > USER_SILENCE_MS) lastSeen.delete(id);
    if (lastSeen.size > 0) waitingSince = now;
    else if (now - waitingSince > USER_SILENCE_MS) end();
  }, POLL_MS);
  return {
    announce: (id) => void lastSeen.set(id, deps.now().getTime()),
    leave(id) {
      if (lastSeen.delete(id) && lastSeen.size === 0) end();
    },
    stop: () => clearInterval(timer),
  };
}
