import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findCommand } from '../../shared/embedded/commands.ts';
import { exportPath } from '../support/factories.ts';
import { ask } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { addressesOf, listFiles } from './manifests.ts';

const curl = await findCommand('curl');
const large = Buffer.alloc(3_000_000, 'picture');

let lab: ExportLab;
/** The URL of the archive, and the signed URL of one file. */
let downloads: { what: string; url: string; whole: Buffer }[];

beforeAll(async () => {
  lab = await startExportLab();
  await lab.harness.startWorker();
  const version = await lab.build(large);
  const archive = lab.api + exportPath(version);
  const addresses = addressesOf(await listFiles(lab, version));
  const [file = ''] = [...addresses].filter(([path]) => path.startsWith('media/')).map(([, url]) => url);
  downloads = [
    { what: 'an archive', url: archive, whole: (await ask(archive, { headers: lab.headers })).body },
    { what: 'a file', url: file, whole: large },
  ];
});
afterAll(() => lab.close());

/** Downloads this many bytes, then disconnects. */
async function cutOff(url: string, bytes: number): Promise<Buffer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: lab.headers }, resolve).on('error', reject);
  });
  const received: Buffer[] = [];
  for await (const chunk of response) {
    received.push(chunk as Buffer);
    // Leaving the loop closes the connection.
    if (Buffer.concat(received).length >= bytes) break;
  }
  return Buffer.concat(received);
}

function runCurl(options: string[]): Promise<number> {
  const authorization = ['-H', `Authorization: ${lab.headers.authorization}`];
  return new Promise((resolve) => {
    execFile(curl ?? 'curl', ['-sf', ...authorization, ...options], (error) =>
      resolve(typeof error?.code === 'number' ? error.code : 0),
    );
  });
}

describe.skipIf(curl === undefined)(curl === undefined ? 'curl, SKIPPED: it is not there' : 'curl', () => {
  test('resumes an interrupted download and ends up with the identical file', async () => {
    for (const { what, url, whole } of downloads) {
      const folder = await mkdtemp(join(tmpdir(), 'lectern-curl-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const path = join(folder, 'download');
      const part = await cutOff(url, 500_000);
      expect(part.length).toBeLessThan(whole.length);
      await writeFile(path, part);
      expect({ what, code: await runCurl(['-C', '-', '-o', path, url]) }).toEqual({ what, code: 0 });
      expect({ what, same: (await readFile(path)).equals(whole) }).toEqual({ what, same: true });
    }
  });

  test('rejects the rest of a different archive with an error and keeps the partial file', async () => {
    const [{ url = '' } = {}] = downloads;
    const folder = await mkdtemp(join(tmpdir(), 'lectern-curl-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'download');
    await writeFile(path, 'of another archive');
    expect(await runCurl(['-C', '-', '-H', 'If-Range: "another"', '-o', path, url])).toBe(33);
    expect(await readFile(path, 'utf8')).toBe('of another archive');
  });
});
