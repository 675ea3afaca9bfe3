// By when breaks are due, as the configuration has it: the holidays are those of the settlement.

import type { Config } from '../config/config.js';
import type { DueRule } from '../core/breaks/dueDate.js';

export function dueRuleOf(config: Pick<Config, 'breaks' | 'schedule' | 'settlement'>): DueRule {
  return {
    days: config.breaks.dueDays,
    timezone: config.schedule.timezone,
    holidays: config.settlement?.holidays ?? [],
  };
}
