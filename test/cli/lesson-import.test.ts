import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findVersion } from '../../shared/models/lesson-version.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { lecternHere, lecternJson, startLectern, useCommandLine } from './command-line.ts';
import { pngWith } from '../exports/pictures.ts';

const { harness, run, json, errorOf, newOwner } = useCommandLine();

const picture = pngWith('a picture');

/** Returns the files below a folder. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe('lectern lesson import', () => {
  test('imports, publishes on request, and numbers the versions', async () => {
    const { path, lessonId, versionId } = await buildPackage({ media: [{ bytes: picture }] });
    const command = ['lesson', 'import', path, ...(await newOwner())];
    expect(await json(...command, '--publish')).toStrictEqual({
      conversion: null,
      lessonId,
      versionId,
      versionNumber: 1,
      slug: 'a-lesson',
      published: true,
      media: 1,
      widgets: 0,
      warnings: [],
      preview: { url: null, expiresAt: expect.any(String) as string },
    });
    const { code, stdout, stderr } = await run(...command);
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Imported a-lesson version 2 (draft) with 1 medium\n');
    expect(stdout).toContain(`lectern lesson publish ${lessonId}`);
  });

  test('makes a copy with new ids', async () => {
    const source = await buildPackage();
    await json('lesson', 'import', source.path, ...(await newOwner()));
    const command = ['lesson', 'import', source.path, ...(await newOwner())];
    expect(await errorOf(...command)).toMatch(/another organization\. Import it with --as-new/);
    const copy = (await json(...command, '--as-new')) as Record<string, unknown>;
    expect(copy).toMatchObject({ versionNumber: 1, slug: 'a-lesson' });
    expect(copy.lessonId).not.toBe(source.lessonId);
    expect(copy.versionId).not.toBe(source.versionId);
  });

  test('reports every problem of a package with its path, and stdout stays empty', async () => {
    const { path } = await buildPackage({ lesson: { title: 7, slug: 'Not A Slug' } });
    const stderr = await errorOf('lesson', 'import', path, ...(await newOwner()), '--json');
    expect(stderr).toContain(`lectern: Cannot import ${path}:\n  lesson.json: `);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test('with a base URL leaves media external', async () => {
    const { path, versionId, mediaIds } = await buildPackage({ media: [{ bytes: picture }] });
    const base = ['--media-base-url', 'https://media.example/m/'];
    await json('lesson', 'import', path, ...(await newOwner()), ...base);
    const sourceUrl = `https://media.example/m/${mediaIds[0]}.png`;
    expect(await harness.db.media.findOne({ versionId }).lean()).toMatchObject({ asset: null, sourceUrl });
  });

  test('interrupted in the middle of a file, it leaves nothing behind', async () => {
    const own = await startHarness();
    onTestFinished(() => own.close());
    const { organization } = await buildOrganization(own);
    const { path, mediaIds } = await buildPackage({ media: [{ bytes: picture }] });
    // A sparse file: large enough to interrupt, without using disk space.
    const file = await open(join(path, 'media', `${mediaIds[0]}.png`), 'w');
    await file.truncate(480 * 1024 ** 2);
    await file.close();

    const running = startLectern(own.environment, 'lesson', 'import', path, '--org', organization.slug);
    await waitFor('the import', async () => (await filesIn(own.config.storeDir)).length > 0);
    // npm forwards the signal that the terminal has already sent, so two at once are one Ctrl-C.
    running.kill('SIGINT');
    running.kill('SIGINT');
    const { code, stdout, stderr } = await running.finished;
    expect({ code, stdout, stderr }).toStrictEqual({ code: 1, stdout: '', stderr: 'lectern: interrupted\n' });
    const left = await filesIn(own.config.storeDir);
    expect(left.filter((path) => !path.includes('/identity/'))).toStrictEqual([]);
    const { lessons, lessonVersions, lessonContents, media } = own.db;
    const collections = [lessons, lessonVersions, lessonContents, media].map(({ collection }) => collection);
    for (const collection of collections) expect(await collection.estimatedDocumentCount()).toBe(0);
  });
});

test('lesson list, publish, unpublish and delete show and change the lesson', async () => {
  const { organization } = await buildOrganization(harness);
  const owner = ['--org', organization.slug];
  const { path, lessonId, versionId } = await buildPackage();
  await buildVersion(harness, organization, path, { publish: false });
  const list = () => json('lesson', 'list', ...owner);

  const draft = { id: lessonId, status: 'draft', latestVersion: null };
  expect(await list()).toStrictEqual([expect.objectContaining(draft)]);
  const latestVersion = { id: versionId, versionNumber: 1, publishedAt: expect.any(String) as string };
  expect(await json('lesson', 'publish', lessonId, '--version', '1')).toMatchObject({
    status: 'published',
    latestVersion,
  });
  const unpublished = { status: 'unpublished', latestVersion: null };
  expect(await json('lesson', 'unpublish', lessonId)).toMatchObject(unpublished);
  expect(await json('lesson', 'delete', lessonId)).toMatchObject({ id: lessonId, status: 'deleted' });
  expect(await list()).toStrictEqual([]);
  expect(await errorOf('lesson', 'publish', lessonId)).toBe(
    `lectern: There is no lesson ${lessonId}. See: lectern lesson list\n`,
  );
});

describe('EXPORT_PREBUILD', () => {
  const prebuild = { EXPORT_PREBUILD: 'true' };

  /** Imports a package, and returns the ids of its version. */
  async function importLesson(settings: Record<string, string>, ...options: string[]) {
    const { path, lessonId, versionId } = await buildPackage();
    const command = ['lesson', 'import', path, ...(await newOwner()), ...options];
    await lecternJson({ ...harness.environment, ...settings }, ...command);
    return { lessonId, versionId };
  }

  async function jobStateOf(versionId: string): Promise<string> {
    const version = await findVersion(harness.db, versionId);
    if (version === null) throw new Error('The version is gone');
    return viewQueue(harness).state(version);
  }

  test('makes import --publish and publish start an archive build; without it, only requests do', async () => {
    const published = await importLesson(prebuild, '--publish');
    expect(await jobStateOf(published.versionId)).toBe('prioritized');

    const draft = await importLesson(prebuild);
    await lecternJson({ ...harness.environment, ...prebuild }, 'lesson', 'publish', draft.lessonId);
    expect(await jobStateOf(draft.versionId)).toBe('prioritized');

    expect(await jobStateOf((await importLesson({}, '--publish')).versionId)).toBe('unknown');
  });

  test('does not prevent publishing while Redis is unresponsive', async () => {
    const { lessonId } = await importLesson({});
    const environment = { ...harness.environment, ...prebuild, REDIS_URL: 'redis://127.0.0.1:1' };
    const { code, stderr } = await lecternHere(environment, 'lesson', 'publish', lessonId);
    expect(code).toBe(0);
    expect(stderr).toContain(
      'warning: the archive is not prebuilt: No connection to Redis at redis://127.0.0.1:1',
    );
  });
});
