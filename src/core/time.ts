// The one length that a calendar of whole days shares. Pure.

export const DAY_MS = 86_400_000;
