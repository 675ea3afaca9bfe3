// What commands of settlement need of the configuration; without the section they end with exit
// code 2 and say so.

import type { Config } from '../../config/config.js';
import { ConfigurationError } from '../../core/errors.js';
import type { SettlementRules } from '../../settlement/settlement.js';
import { settlementRules } from '../../settlement/settlement.js';

export function requiredRules(config: Config): SettlementRules {
  const rules = settlementRules(config);
  if (rules !== null) return rules;
  const problem =
    'must be given, as { from: "2026-11-01" }: without it nothing of settlement is kept ' +
    '(docs/SETTLEMENT.md)';
  throw new ConfigurationError(config.file, 'settlement', problem);
}
