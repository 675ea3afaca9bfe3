// Loaded into a profiled process before anything else: who allocates how much, also of what was
// collected long before the end. Written into the folder of PROFILE_DIR when the process leaves.

import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';

const SAMPLE_BYTES = 128 * 1024;

const session = new Session();
session.connect();
session.post('HeapProfiler.startSampling', {
  samplingInterval: SAMPLE_BYTES,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
});

process.on('exit', () => {
  session.post('HeapProfiler.stopSampling', (error, answer) => {
    if (error) throw new Error(error.message);
    const file = join(process.env.PROFILE_DIR, `${process.pid}.heapprofile`);
    writeFileSync(file, JSON.stringify(answer.profile));
  });
});
