import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Starts the origin of generated files, until the end of the test. */
export async function startGeneratedOrigin(): Promise<{
  host: string;
  url(index: number, size: number): string;
}> {
  const script = fileURLToPath(new URL('./origin-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const host = `127.0.0.1:${port}`;
  return { host, url: (index, size) => `http://${host}/${index}/${size}` };
}
