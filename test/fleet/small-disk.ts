import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const run = promisify(execFile);

/** A filesystem of its own with little space. */
export interface SmallDisk {
  folder: string;
  /** Changes the size of the filesystem. */
  resize(bytes: number): Promise<void>;
}

/** Mounts a filesystem until the end of the test. Mounting needs root: see {@link mayMount}. */
export async function mountSmallDisk(bytes: number): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'lectern-test', folder]);
  onTestFinished(async () => {
    // Unmounts lazily, because a process that was just killed may still hold a file.
    await run('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true });
  });
  return {
    folder,
    resize: async (size) => void (await run('mount', ['-o', `remount,size=${size}`, folder])),
  };
}

/** Whether this process may mount; containers and ordinary users often may not. */
export async function mayMount(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=65536', 'lectern-test', folder]);
    await run('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true });
  }
}
