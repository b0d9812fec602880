import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, rm, stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { becomeSupervisor, connectToSupervisor, socketFolder } from '../../shared/embedded/rendezvous.ts';
import { temporaryFolder } from '../support/folders.ts';

/** Leaves sockets in a folder as killed processes do: without a listener, but with their names taken. */
async function leaveSockets(folder: string, names: readonly string[]): Promise<void> {
  const program = `
    const paths = process.argv.slice(1);
    const listening = paths.map((path) => new Promise((done) => require('net').createServer().listen(path, done)));
    Promise.all(listening).then(() => console.log('listening'));
  `;
  const paths = names.map((name) => join(folder, name));
  const child = spawn(process.execPath, ['-e', program, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** The candidates connect and leave before the response. */
function greet(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.end('here');
}

test('exactly one of many candidates becomes the supervisor, whatever killed ones have left', async () => {
  for (const left of [[], ['1.sock'], ['3.sock', '7.sock']]) {
    const folder = await socketFolder(await temporaryFolder());
    if (left.length > 0) await leaveSockets(folder, left);
    expect(await readdir(folder)).toEqual(left);

    const candidates = Array.from({ length: 20 }, () => becomeSupervisor(folder, greet));
    const supervisors = (await Promise.all(candidates)).filter((server) => server !== undefined);
    expect(supervisors).toHaveLength(1);
    expect(await readdir(folder)).toHaveLength(1);

    const client = await connectToSupervisor(folder);
    expect(String(await client?.toArray())).toBe('here');
    supervisors[0]?.close();
    expect(await readdir(folder)).toEqual([]);
    expect(await connectToSupervisor(folder)).toBeUndefined();
  }
});

test('only the owner can connect to the sockets', async () => {
  const folder = await socketFolder(await temporaryFolder());
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('a folder in /tmp that others can write to is rejected', async () => {
  const dataDir = join(await temporaryFolder(), 'x'.repeat(120));
  const folder = await socketFolder(dataDir);
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o777);
  await expect(socketFolder(dataDir)).rejects.toThrow('closed to others');
});
