import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findMongod } from '../../shared/embedded/find-mongod.ts';

// `node interrupted-fetch CACHE_DIR`: begins to fetch a binary and hangs half-way.
await findMongod({
  cacheDir: process.argv[2] ?? '',
  report: () => undefined,
  signal: new AbortController().signal,
  findInstalled: () => Promise.resolve(undefined),
  sources: [
    {
      version: '1.2.3',
      place: 'a test',
      suitable: true,
      async fetch({ folder }) {
        await writeFile(join(folder, 'half'), '#!/bin/sh\necho "db ver', { mode: 0o755 });
        return new Promise(() => setInterval(() => undefined, 60_000));
      },
    },
  ],
});
