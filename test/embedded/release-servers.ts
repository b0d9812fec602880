import { acquireEmbeddedServers } from '../../shared/embedded/client.ts';

// `node release-servers DATA_DIR CACHE_DIR`: a short command, which ends by having nothing more to do.
const [dataDir = '', cacheDir = ''] = process.argv.slice(2);
const servers = await acquireEmbeddedServers({ dataDir, cacheDir, report: () => undefined });
await servers.release();
