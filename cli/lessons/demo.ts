import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { exportProfiles } from '../../shared/exports/profiles.ts';
import { withTimeLimit } from '../../shared/platform/time-limits.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { issueApiKey } from '../../shared/models/api-key.ts';
import { openDatabase } from '../../shared/models/database.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { openPackageSource } from '../../shared/packages/read-package.ts';
import { maxTokenSeconds } from '../../shared/tokens/sign-token-request.ts';
import { demoAccount, demoOrganization, demoVersion } from './demo-lesson.ts';
import { withInstallation } from '../installation/installation.ts';
import type { Installation } from '../installation/installation.ts';
import { aborted } from '../terminal/interrupts.ts';
import { formatBytes } from '../../shared/platform/format-bytes.ts';
import { count, note, print, table } from '../terminal/output.ts';

const demoLearner = 'demo-learner';

const requestTimeoutMs = 30_000;

/**
 * Imports the demo lesson, exports it, and keeps running until Ctrl-C.
 *
 * @param once end after the export
 * @throws {LecternError} when it is interrupted before the export is complete
 */
export async function demonstrate(once: boolean): Promise<void> {
  const options = {
    workers: 2,
    report: (message: string) => note(`${message} …`),
    // A demo needs no advice about its secrets.
    warn: () => undefined,
    settings: { LOG_LEVEL: 'warn' },
  };
  const done = await withInstallation(options, async (installation) => {
    const { account, credentials, version } = await runDemo(installation);
    if (once) return;
    const playUrl = await signPlayUrl(installation, credentials, version.lessonId);
    print(`The lesson as a learner sees it (open it in a browser):\n  ${playUrl}\n`);
    if (installation.config.console) {
      const { email, password } = account;
      print(`The console:\n  ${installation.url}/console\n  log in as ${email} with ${password}\n`);
    }
    print(`Lectern is ready at ${installation.url}\nPress Ctrl-C to stop.`);
    await aborted(installation.signal);
  });
  if (once && !done) throw new LecternError('INTERNAL_ERROR', 'interrupted');
}

async function runDemo(installation: Installation) {
  const { config, servers, secrets, url, signal } = installation;
  const db = await openDatabase(servers.mongodbUri);
  try {
    const organization = await demoOrganization(db);
    const { publicKey, secretKey } = await issueApiKey(db, secrets.keyPepper, {
      organizationId: organization._id,
      label: 'demo',
      expiresAt: null,
    });
    const account = await demoAccount(db, organization);
    const credentials = `${publicKey}.${secretKey}`;
    note('Importing the demo lesson …');
    const version = await demoVersion(db, config, organization, signal);
    const path = `/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`;
    note(`Exporting it: GET ${path} …`);
    const started = performance.now();
    const archive = await download(installation, `${url}${path}`, credentials, version);
    const durationMs = Math.round(performance.now() - started);
    print(await listArchive(archive, durationMs));
    print(
      [
        '',
        `Organization  ${organization.slug} (plan ${organization.plan})`,
        `Credentials   ${credentials}`,
        `Lesson        ${version.title}`,
        `  lesson id   ${version.lessonId}`,
        `  version id  ${version._id}`,
        '',
        'The export with curl:',
        `  curl -sSfo ${exportProfiles.plain.fileName(version)} -H 'Authorization: Bearer ${credentials}' \\`,
        `    ${url}${path}`,
        '',
      ].join('\n'),
    );
    return { account, credentials, version };
  } finally {
    await db.connection.close();
  }
}

/** Signs a token as an integrator does; returns the URL of the page that plays the lesson with it. */
async function signPlayUrl(
  { url, signal }: Installation,
  credentials: string,
  lessonId: string,
): Promise<string> {
  return withTimeLimit({ timeoutMs: requestTimeoutMs, signal }, async (ending) => {
    const response = await fetch(`${url}/api/public/sign-token`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credentials}`, 'content-type': 'application/json' },
      body: JSON.stringify({ lessonId, learnerId: demoLearner, timeout: maxTokenSeconds }),
      signal: ending,
    });
    if (!response.ok) {
      throw new LecternError('INTERNAL_ERROR', `No token: ${response.status} ${await response.text()}`);
    }
    const { token } = z.object({ token: z.string() }).parse(await response.json());
    return `${url}/embed/${lessonId}?token=${token}`;
  });
}

/** Downloads the archive as an integrator does; returns the file's path. */
async function download(
  { config, signal }: Installation,
  url: string,
  credentials: string,
  version: LessonVersion,
): Promise<string> {
  const folder = join(config.dataDir, 'demo');
  await mkdir(folder, { recursive: true });
  const path = join(folder, exportProfiles.plain.fileName(version));
  await withTimeLimit({ timeoutMs: config.export.waitSeconds * 1000, signal }, async (ending) => {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${credentials}` },
      signal: ending,
    });
    if (!response.ok || response.body === null) {
      throw new LecternError(
        'INTERNAL_ERROR',
        `The export failed: ${response.status} ${await response.text()}`,
      );
    }
    await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
  });
  return path;
}

async function listArchive(path: string, durationMs: number): Promise<string> {
  const { files } = await openPackageSource(path);
  const rows = files.map((file) => [file.path, formatBytes(file.size)]);
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  const total = `${count(rows.length, 'file')}, ${formatBytes(bytes)}, exported and downloaded in ${durationMs} ms`;
  return `\n${path}\n${table(['FILE', 'SIZE'], rows)}\n${total}`;
}
