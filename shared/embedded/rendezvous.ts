import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Election of the one supervisor of a data directory, and its discovery by clients.
 *
 * The supervisor listens on a socket named by a number. Binding a name is exclusive in the kernel, and a socket refuses
 * connections once its process has ended, however it ended. So there are no lock files and no stale locks: a name is
 * never reused. A process that finds the newest socket refusing binds the next number; one of several succeeds. Only
 * then does it remove the older names.
 */

/** Socket paths have at most 104 bytes on macOS and 108 on Linux, including a closing zero; "/999999.sock" has 12. */
const maxFolderBytes = 90;

/**
 * Returns the folder of a data directory's sockets, created if missing, and accessible to this user only. It is inside
 * the data directory, unless its path is too long for a socket. Then it is a folder in /tmp that depends on the path
 * alone, because TMPDIR may differ between processes.
 */
export async function socketFolder(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const inside = join(await realpath(dataDir), 'embedded');
  const user = process.getuid?.() ?? 0;
  const hash = createHash('sha256').update(inside).digest('hex').slice(0, 16);
  const folder = Buffer.byteLength(inside) <= maxFolderBytes ? inside : `/tmp/lectern-${user}-${hash}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const info = lstatSync(folder);
  if (!info.isDirectory() || (folder !== inside && (info.uid !== user || (info.mode & 0o077) !== 0))) {
    throw new Error(`${folder} must be a folder that belongs to this user and is closed to others`);
  }
  return folder;
}

async function socketNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names
    .flatMap((name) => /^(\d+)\.sock$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

function socketPath(folder: string, number: number): string {
  return join(folder, `${number}.sock`);
}

/** Returns a connection to the folder's supervisor; undefined if there is none. */
export async function connectToSupervisor(folder: string): Promise<Socket | undefined> {
  const [newest] = await socketNumbers(folder);
  return newest === undefined ? undefined : connectTo(socketPath(folder, newest));
}

/** Returns undefined if no process listens; throws on other failures, such as a full backlog. */
async function connectTo(path: string): Promise<Socket | undefined> {
  // A socket refuses between binding and listening, so one refusal proves nothing.
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    try {
      return await new Promise((resolve, reject) => {
        const socket = connect(path, () => resolve(socket));
        socket.once('error', reject);
      });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ENOENT') return undefined;
      if (code !== 'ECONNREFUSED') throw error;
      await delay(20);
    }
  }
  return undefined;
}

/** Returns whether a process listens. A failure other than refusal means that one does. */
async function isAlive(path: string): Promise<boolean> {
  try {
    const socket = await connectTo(path);
    socket?.destroy();
    return socket !== undefined;
  } catch {
    return true;
  }
}

/**
 * Makes this process the folder's supervisor; returns the listening server, or undefined if another process is the
 * supervisor. Connections before the decision are closed, and their clients retry. Closing the server removes its name.
 */
export async function becomeSupervisor(
  folder: string,
  onConnection: (socket: Socket) => void,
): Promise<Server | undefined> {
  for (;;) {
    const [newest = 0] = await socketNumbers(folder);
    if (newest > 0 && (await isAlive(socketPath(folder, newest)))) return undefined;

    let elected = false;
    const server = createServer((socket) => (elected ? onConnection(socket) : socket.destroy()));
    if (!(await listens(server, socketPath(folder, newest + 1)))) continue;

    // Other processes may have come and gone before the binding, so that numbers started again.
    const numbers = await socketNumbers(folder);
    const others = numbers.filter((number) => number !== newest + 1);
    const living = await Promise.all(others.map((number) => isAlive(socketPath(folder, number))));
    if (!living.includes(true)) {
      elected = true;
      await Promise.all(others.map((number) => rm(socketPath(folder, number), { force: true })));
      return server;
    }
    await new Promise((resolve) => server.close(resolve));
    await delay(20 + Math.random() * 100);
  }
}

/** Returns false if the name is taken. */
function listens(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(path, () => resolve(true));
  });
}
