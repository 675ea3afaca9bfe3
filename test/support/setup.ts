// What vitest does before each file, also where several files share a process.

import { beginFile } from './today.js';

await beginFile();
