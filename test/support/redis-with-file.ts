import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, startServer } from '../../shared/embedded/child-process.ts';

/**
 * Starts a Redis whose file has all texts uncompressed. It ends with this process at the latest.
 *
 * @param program of `findDebianProgram`.
 * @param folder the folder of its file.
 */
export async function startRedisWithFile(program: string, folder: string) {
  const port = await freePort();
  const settings = { port, bind: '127.0.0.1', save: '', rdbcompression: 'no', dir: folder };
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { stop } = await startServer({
    name: 'Redis',
    command: 'env',
    args: [`LD_LIBRARY_PATH=${await librariesOf(program)}`, program, ...options],
    ready: /ready to accept connections/i,
    logFile: join(folder, 'redis.log'),
  });
  const url = `redis://127.0.0.1:${port}`;
  return {
    url,
    stop,
    /** Writes the file (RDB), and returns its bytes. */
    async file() {
      const redis = new Redis(url);
      await redis.save();
      redis.disconnect();
      return readFile(join(folder, 'dump.rdb'));
    },
  };
}

/** Returns the folder of the libraries that were extracted beside a program of Debian. */
async function librariesOf(program: string): Promise<string> {
  const folder = join(dirname(program), '..', 'lib');
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith('-linux-gnu'))
    .map((name) => join(folder, name))
    .join(':');
}
