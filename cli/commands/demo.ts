import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Command } from 'commander';
import { loadConfig } from '../../shared/config.ts';
import type { Config } from '../../shared/config.ts';
import { LecternError } from '../../shared/errors.ts';
import { issueApiKey } from '../../shared/models/api-key.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { listLessons } from '../../shared/models/lesson.ts';
import { createOrganization, findOrganizationBySlug } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { importPackage } from '../../shared/packages/import.ts';
import { openPackageSource } from '../../shared/packages/open-package-source.ts';
import { packageRoot } from '../../shared/paths.ts';
import { publishVersion } from '../../shared/publishing.ts';
import { loadSecrets } from '../../shared/secrets.ts';
import { findServers } from '../../shared/servers.ts';
import { createDiskStore } from '../../shared/storage/disk-store.ts';
import { findLessonVersions, latestPublished } from '../lessons.ts';
import { count, formatBytes, note, table } from '../output.ts';
import { startProcesses, untilStopped } from '../processes.ts';

const organizationSlug = 'demo';
const lessonFolder = join(packageRoot, 'demo', 'lesson');

/** `lectern demo`: the main job on this machine, from an import to the ZIP an integrator downloads. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('import the demo lesson, export it through the API and two workers, and stay up to be tried')
    .option('--once', 'end after the export')
    .action(async (options: { once?: boolean }) => {
      const config = loadConfig();
      const stopped = untilStopped(config);
      note('Starting MongoDB and Redis …');
      const servers = await findServers(config, (message) => note(`  ${message}`));
      try {
        note('Starting the API and two workers …');
        const processes = await startProcesses(config, servers, {
          workers: 2,
          settings: { LOG_LEVEL: 'warn' },
        });
        try {
          const work = runDemo(config, servers.mongodbUri, processes.address);
          await Promise.race([work, processes.failed, stopped]);
          if (options.once !== true) {
            print(`Lectern is ready at ${processes.address}\nPress Ctrl-C to stop.`);
            await Promise.race([stopped, processes.failed]);
          }
        } finally {
          await processes.stop();
        }
      } finally {
        await servers.release();
      }
    });
}

async function runDemo(config: Config, mongodbUri: string, address: string): Promise<void> {
  const db = await openDatabase(mongodbUri);
  try {
    await buildIndexes(db);
    const organization = await demoOrganization(db);
    const { keyPepper } = await loadSecrets(config, note);
    const issued = await issueApiKey(db, keyPepper, {
      organizationId: organization._id,
      label: 'demo',
      expiresAt: null,
    });
    const credentials = `${issued.publicKey}.${issued.secretKey}`;
    note('Importing the demo lesson …');
    const version = await demoVersion(db, config, organization);
    const path = `/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`;
    note(`Exporting it: GET ${path}`);
    const started = performance.now();
    const archive = await download(config, `${address}${path}`, credentials, version);
    const milliseconds = Math.round(performance.now() - started);
    print(await listArchive(archive, milliseconds));
    print(
      [
        '',
        `Organization  ${organization.slug} (plan ${organization.plan})`,
        `Credentials   ${credentials}`,
        `Lesson        ${version.title}`,
        `  lesson id   ${version.lessonId}`,
        `  version id  ${version._id}`,
        '',
        'The same with curl:',
        `  curl -fOJ -H 'Authorization: Bearer ${credentials}' \\`,
        `    ${address}${path}`,
        '',
      ].join('\n'),
    );
  } finally {
    await db.connection.close();
  }
}

async function demoOrganization(db: Database): Promise<Organization> {
  const existing = await findOrganizationBySlug(db, organizationSlug);
  return existing ?? createOrganization(db, { slug: organizationSlug, name: 'Demo Academy', plan: 'edtech' });
}

/** The demo lesson, published; one that an earlier run imported serves again. */
async function demoVersion(db: Database, config: Config, organization: Organization): Promise<LessonVersion> {
  const store = createDiskStore(config.storeDir);
  const [existing] = await listLessons(db, organization._id);
  const published =
    existing === undefined ? null : latestPublished(await findLessonVersions(db, existing._id));
  if (published !== null) return published;
  const imported = await importPackage({ db, store, config }, organization, lessonFolder, {
    asNew: false,
    signal: new AbortController().signal,
  });
  return publishVersion(db, store, imported.version._id, { force: false });
}

async function download(
  config: Config,
  url: string,
  credentials: string,
  version: LessonVersion,
): Promise<string> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${credentials}` },
    signal: AbortSignal.timeout(config.export.waitSeconds * 1000),
  });
  if (!response.ok || response.body === null) {
    throw new LecternError(
      'INTERNAL_ERROR',
      `The export failed: ${response.status} ${await response.text()}`,
    );
  }
  const folder = join(config.dataDir, 'demo');
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${version.slug}-v${version.versionNumber}.zip`);
  await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
  return path;
}

async function listArchive(path: string, milliseconds: number): Promise<string> {
  const archive = await openPackageSource(path);
  try {
    const rows = archive.files.map((file) => [file.path, formatBytes(file.size)]);
    const bytes = archive.files.reduce((sum, file) => sum + file.size, 0);
    const total = `${count(rows.length, 'file')}, ${formatBytes(bytes)}, built and downloaded in ${milliseconds} ms`;
    return `\n${path}\n${table(['FILE', 'SIZE'], rows)}\n${total}`;
  } finally {
    await archive.close();
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
