// Where one can go in the console, in the order in which a morning asks for it: the name of each
// section, its page, and who is shown it. Neighbours: routes.ts opens these pages, by the same
// rights; layout/layout.tsx links them.

import type { Right } from '../core/access.js';

/** For all accounts, for some of the configuration, or for some of it or that left it. */
export type Of = 'all' | 'configured' | 'left';

interface Section {
  readonly path: string;
  readonly right: Right;
  readonly of: Of;
  /** only where settlement is kept */
  readonly ofSettlement?: true;
}

export const SECTIONS = {
  Tonight: { path: '/', right: 'look', of: 'left' },
  Breaks: { path: '/breaks', right: 'look', of: 'left' },
  Approvals: { path: '/approvals', right: 'look', of: 'left' },
  Instructions: { path: '/instructions', right: 'look', of: 'left' },
  Reservations: { path: '/authorisations', right: 'look', of: 'configured' },
  Reports: { path: '/reports', right: 'look', of: 'left' },
  Days: { path: '/days', right: 'look', of: 'left' },
  Settlement: { path: '/settlement', right: 'look', of: 'configured', ofSettlement: true },
  Jobs: { path: '/jobs', right: 'jobs', of: 'all' },
  Activity: { path: '/activity', right: 'audit', of: 'all' },
  Audit: { path: '/audit', right: 'audit', of: 'all' },
  Settings: { path: '/settings', right: 'settings', of: 'all' },
} as const satisfies Record<string, Section>;

/** Empty: a page of none. */
export type SectionName = keyof typeof SECTIONS | '';

/** Those that somebody may open. */
export function sectionsFor(
  can: (right: Right, of: Of) => boolean,
  hasSettlement: boolean,
): { name: string; path: string }[] {
  return Object.entries<Section>(SECTIONS)
    .filter(([, { right, of, ofSettlement }]) => can(right, of) && (!ofSettlement || hasSettlement))
    .map(([name, { path }]) => ({ name, path }));
}
