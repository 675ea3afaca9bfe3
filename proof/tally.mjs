// Counts what a campaign reached: kills by place, rare states by name.

export function openTally() {
  const counts = new Map();
  const kills = new Map();
  const bump = (map, name, by) => map.set(name, (map.get(name) ?? 0) + by);
  return {
    count: (name) => bump(counts, name, 1),
    add: (name, by) => bump(counts, name, by),
    addKills: (where, by) => bump(kills, where, by),
    kill: (where) => bump(kills, where, 1),
    of: (name) => counts.get(name) ?? 0,
    kills: () => [...kills.values()].reduce((sum, one) => sum + one, 0),
    counts,
    killsBy: kills,
  };
}
