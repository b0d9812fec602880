import { acquireEmbeddedServers } from '../../shared/embedded/client.ts';

// `node hold-servers DATA_DIR CACHE_DIR`: prints the servers as JSON and holds them until it is killed.
const [dataDir = '', cacheDir = ''] = process.argv.slice(2);
const servers = await acquireEmbeddedServers({ dataDir, cacheDir, report: () => undefined });
process.stdout.write(`${JSON.stringify(servers)}\n`);
// Holding the servers alone keeps no process alive.
setInterval(() => undefined, 60_000);
