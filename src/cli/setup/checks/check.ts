// One line of what `tieout doctor` says. Neighbours: doctor.ts, settlementChecks.ts.

export interface Check {
  name: string;
  kind: 'ok' | 'warning' | 'problem';
  words: string;
}
