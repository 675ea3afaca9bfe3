// What somebody brought on the console and never took: after an hour it is nobody's, and goes, also
// where nobody brings a file again. Neighbour: web/upload/keptFiles.ts puts it there.

import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const KEPT_MS = 3_600_000;

/** Each file that waits lies in a folder of its own here. */
export function uploadsIn(dataDir: string): string {
  return join(dataDir, 'uploads');
}

/** Names of what still waits, after the old ones were removed. */
export async function youngUploads(dataDir: string, now: Date): Promise<string[]> {
  const folder = uploadsIn(dataDir);
  const names = await readdir(folder).catch(() => []);
  const young: string[] = [];
  for (const name of names) {
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: 0 }));
    if (now.getTime() - mtimeMs < KEPT_MS) young.push(name);
    else await rm(join(folder, name), { recursive: true, force: true });
  }
  return young;
}
