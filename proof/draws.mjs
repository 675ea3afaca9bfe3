// What a schedule may draw besides deaths, sleeps and lost answers: one table, so that it can be
// seen what is drawn, how often, and what is not. A draw that is off names what is not mended yet;
// `--only` and `--without` of the programs choose among them. Neighbours: simulator/ and campaign/.

/** By name: `chance` of it each time that it could happen, and whether it is drawn at all. */
export const DRAWS = {
  'people decide': { chance: 0.08, isOn: true },
  'people pull the brake': { chance: 0.02, isOn: true },
  'people call by hand': { chance: 0.04, isOn: true },
  'people work on breaks': { chance: 0.06, isOn: true },
  'people close days': { chance: 0.03, isOn: true },
  'people send by hand': { chance: 0.7, isOn: true },
  'workbooks come back': { chance: 0.01, isOn: true },
  'the feed is checked': { chance: 0.03, isOn: true },
  'edits of the ledger': { chance: 0.12, isOn: true },
  'the ledger is rewritten': { chance: 0.08, isOn: true },
  'requests that come back': { chance: 1, isOn: true },
  'requests that move to another order': { chance: 1, isOn: true },
  'requests without an order': { chance: 0.01, isOn: true },
  'payments are disputed': { chance: 0.05, isOn: true },
  'odd values in the ledger': { chance: 0.03, isOn: true },
  'odd answers of the gateway': { chance: 0.02, isOn: true },
  'a second run at once': { chance: 0.06, isOn: true },
  'a frozen runner wakes': { chance: 0.5, isOn: true },
  'a clock jumps': { chance: 0.02, isOn: true },
  'settings change': { chance: 0.015, isOn: true },
  'settings free history': { chance: 0.5, isOn: true },
  'accounts come and go': { chance: 0.03, isOn: true },
  'codes are swapped': { chance: 0.01, isOn: true },
  'a code gets a meaning': { chance: 0.01, isOn: true },
  'the calendar changes': { chance: 0.15, isOn: true },
  'the database is put back': { chance: 0.6, isOn: true },
};

/** `only`, `without`, `also`: names with commas between, as they are typed. */
export function chosenDraws({ only = '', without = '', also = '' }) {
  const list = (text) => text.split(',').filter((name) => name !== '');
  for (const name of [...list(only), ...list(without), ...list(also)]) {
    if (DRAWS[name] === undefined) throw new Error(`no such draw: ${name}`);
  }
  const isOn = (name) => {
    if (list(only).length > 0) return list(only).includes(name);
    return (DRAWS[name].isOn || list(also).includes(name)) && !list(without).includes(name);
  };
  const on = new Set(Object.keys(DRAWS).filter(isOn));
  return {
    has: (name) => on.has(name),
    /** Draws whether it happens now; draws nothing where it is off. `share`: of its chance. */
    falls: (random, name, share = 1) => on.has(name) && random.chance(DRAWS[name].chance * share),
  };
}
