import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { hang, startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  lectern,
  lecternCommand,
  lecternHere,
  lecternJson,
  startCommand,
  startLectern,
} from './command-line.ts';

let origin: Origin;
let harness: Harness;
beforeAll(async () => {
  origin = await startOrigin();
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});

const picture = Buffer.from('a picture');

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Publishes a lesson with one unique picture. */
async function buildPublished() {
  const { organization } = await buildOrganization(harness);
  const { path } = await buildPackage({ media: [{ bytes: picture }] });
  return buildVersion(harness, organization, path);
}

/** Returns the files below a folder by their relative path. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe('lectern lesson import', () => {
  test('imports, publishes on request, and numbers the versions', async () => {
    const { organization } = await buildOrganization(harness);
    const { path, lessonId, versionId } = await buildPackage({ media: [{ bytes: picture }] });
    const command = ['lesson', 'import', path, '--org', organization.slug];
    const first = {
      lessonId,
      versionId,
      versionNumber: 1,
      slug: 'a-lesson',
      published: true,
      media: 1,
      widgets: 0,
      warnings: [],
      preview: { url: null, expiresAt: expect.any(String) as string },
    };
    expect(await lecternJson(harness.environment, ...command, '--publish')).toStrictEqual(first);

    const { code, stdout, stderr } = await lectern(harness.environment, ...command);
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Imported a-lesson version 2 (draft) with 1 medium\n');
    expect(stdout).toContain(`lectern lesson publish ${lessonId}`);
  });

  test('a copy gets new ids', async () => {
    const { organization } = await buildOrganization(harness);
    const source = await buildPackage();
    await buildVersion(harness, organization, source.path);
    const other = await buildOrganization(harness);
    const command = ['lesson', 'import', source.path, '--org', other.organization.slug];
    const denied = await lecternHere(harness.environment, ...command);
    expect(denied.stderr).toMatch(/another organization\. Import it with --as-new/);
    expect(denied).toMatchObject({ code: 1, stdout: '' });
    const copy = (await lecternJson(harness.environment, ...command, '--as-new')) as Record<string, unknown>;
    expect(copy).toMatchObject({ versionNumber: 1, slug: 'a-lesson' });
    expect(copy.lessonId).not.toBe(source.lessonId);
    expect(copy.versionId).not.toBe(source.versionId);
  });

  test('reports every problem of a package with its path, and stdout stays empty', async () => {
    const { organization } = await buildOrganization(harness);
    const { path } = await buildPackage({ lesson: { title: 7, slug: 'Not A Slug' } });
    const command = ['lesson', 'import', path, '--org', organization.slug, '--json'];
    const { code, stdout, stderr } = await lecternHere(harness.environment, ...command);
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`lectern: Cannot import ${path}:\n  lesson.json: `);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test('warnings go to stderr, and stdout has one complete document', async () => {
    const { organization } = await buildOrganization(harness);
    const blocks = () => [
      { type: 'Image', props: { id: 'Image-1', src: `media:${randomUUID()}` } },
      { type: 'Globe', props: { id: 'Globe-1' } },
    ];
    const { path } = await buildPackage({ blocks });
    const command = ['lesson', 'import', path, '--org', organization.slug, '--publish', '--json'];
    const { code, stdout, stderr } = await lectern(harness.environment, ...command);
    expect(JSON.parse(stdout)).toMatchObject({ published: true });
    const warnings = stderr.trimEnd().split('\n');
    expect(warnings).toHaveLength(2);
    expect(warnings.every((line) => line.startsWith('warning: '))).toBe(true);
    expect(warnings.at(-1)).toContain('Globe');
    expect(code).toBe(0);
  });

  test('with a base URL media stay external', async () => {
    const { organization } = await buildOrganization(harness);
    const { path, versionId, mediaIds } = await buildPackage({ media: [{ bytes: picture }] });
    const command = [
      'lesson',
      'import',
      path,
      '--org',
      organization.slug,
      '--media-base-url',
      origin.url('/m/'),
    ];
    await lecternJson(harness.environment, ...command);
    const medium = await harness.db.media.findOne({ versionId }).lean();
    expect(medium).toMatchObject({ asset: null, sourceUrl: origin.url(`/m/${mediaIds[0]}.png`) });
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
    expect(await filesIn(own.config.storeDir)).toStrictEqual([]);
    const { lessons, lessonVersions, lessonContents, media } = own.db;
    expect(
      await Promise.all([
        lessons.estimatedDocumentCount(),
        lessonVersions.estimatedDocumentCount(),
        lessonContents.estimatedDocumentCount(),
        media.estimatedDocumentCount(),
      ]),
    ).toStrictEqual([0, 0, 0, 0]);
  });
});

describe('lectern lesson', () => {
  test('list, publish, unpublish and delete show and change the lesson', async () => {
    const { organization } = await buildOrganization(harness);
    const { path, lessonId, versionId } = await buildPackage();
    await buildVersion(harness, organization, path, { publish: false });
    const run = (...args: string[]) => lecternJson(harness.environment, 'lesson', ...args);

    const list = (await run('list', '--org', organization.slug)) as unknown[];
    expect(list).toStrictEqual([
      expect.objectContaining({ id: lessonId, status: 'draft', latestVersion: null }),
    ]);
    const latestVersion = { id: versionId, versionNumber: 1, publishedAt: expect.any(String) as string };
    expect(await run('publish', lessonId, '--version', '1')).toMatchObject({
      status: 'published',
      latestVersion,
    });
    expect(await run('unpublish', lessonId)).toMatchObject({ status: 'unpublished', latestVersion: null });
    expect(await run('delete', lessonId)).toMatchObject({ id: lessonId, status: 'deleted' });
    expect(await run('list', '--org', organization.slug)).toStrictEqual([]);
    const { code, stderr } = await lecternHere(harness.environment, 'lesson', 'publish', lessonId);
    expect({ code, stderr }).toStrictEqual({
      code: 1,
      stderr: `lectern: There is no lesson ${lessonId}. See: lectern lesson list\n`,
    });
  });

  test('check warns of an unknown widget and a missing media file, which do not prevent playing', async () => {
    const { organization } = await buildOrganization(harness);
    const mediaId = randomUUID();
    const blocks = () => [
      { type: 'Image', props: { id: 'Image-1', src: `media:${mediaId}` } },
      { type: 'Globe', props: { id: 'Globe-1' } },
    ];
    const { lessonId } = await buildVersion(harness, organization, (await buildPackage({ blocks })).path);
    const checked = await lecternJson(harness.environment, 'lesson', 'check', lessonId);
    expect(checked).toMatchObject({
      id: lessonId,
      playability: { valid: true, errors: [] },
      warnings: [`No medium is known under ${mediaId}.`, 'No widget is registered for the type Globe.'],
    });
  });

  test('import and check report probable mistakes of the author with their position', async () => {
    const { organization } = await buildOrganization(harness);
    const importJson = async (path: string): Promise<unknown> => {
      const command = ['lesson', 'import', path, '--org', organization.slug, '--json'];
      const { stdout, stderr } = await lecternHere(harness.environment, ...command);
      expect(stderr).toMatch(/^(?:warning: lesson\.json: .+\n)+$/);
      return JSON.parse(stdout);
    };
    const choices = [{ id: 'a', html: 'A' }, { id: 'a', html: 'B' }, { html: 'C' }];
    const question = (id: string, props: object) => ({
      type: 'MultipleChoice',
      props: { id, choices, ...props },
    });
    const blocks = () => [
      question('q1', { correct: ['a', 'z'] }),
      question('q2', { choices: choices.slice(0, 1) }),
      question('q3', { choices: choices.slice(0, 1), points: 0 }),
      question('q4', { choices: choices.slice(0, 1), correct: 'a' }),
      {
        type: 'Callout',
        props: {
          id: 'c',
          title: '',
          body: [{ type: 'Image', props: { id: 'i', captoin: '', Alt: '', hue: 1 } }],
        },
      },
      // Fields that Puck and the player use, a widget of the organization, and scoring from the
      // settings.
      {
        type: 'Text',
        props: { id: 't', html: '', visibleIf: {}, variable: 'v', puck: {}, _own: 1 },
        readOnly: {},
      },
      { type: 'Own', props: { id: 'o', anything: 1, points: '5' } },
      { type: 'Own', props: { id: 'p', points: 5 } },
      { type: 'MultipleChoice', props: { id: 'q5', choices: [{ id: 1, html: '' }] } },
    ];
    const overrides = { MultipleChoice: { correct: [1], atempts: 2 }, Own: { any: 1 } };
    const { path, lessonId } = await buildPackage({ blocks, lesson: { widget_settings: { overrides } } });
    const imported = await importJson(path);
    const place = 'Section 1 ("A section"), step 1 ("A step"), ';
    const warnings = [
      'The settings for all widgets of the type MultipleChoice: unknown prop "atempts"; did you mean "attempts"?',
      `${place}MultipleChoice "q1": choice 2 has the id "a" of an earlier choice, and is left out`,
      `${place}MultipleChoice "q1": choice 3 has no id, so learners cannot pick it`,
      `${place}MultipleChoice "q1": the right answer "z" is not among its choices ("a")`,
      `${place}MultipleChoice "q2": the right answer "1" is not among its choices ("a")`,
      `${place}MultipleChoice "q3": the right answer "1" is not among its choices ("a")`,
      `${place}MultipleChoice "q4": correct must be a list of choice ids, such as ["a"]`,
      `${place}Image "i": unknown prop "captoin"; did you mean "caption"?`,
      `${place}Image "i": unknown prop "Alt"; did you mean "alt"?`,
      `${place}Image "i": unknown prop "hue"`,
      `${place}Own "o": points must be a number from 0 to 1000, not "5"; the block is not scored`,
    ];
    expect(imported).toMatchObject({ warnings: warnings.map((warning) => `lesson.json: ${warning}`) });
    const checked = await lecternJson(harness.environment, 'lesson', 'check', lessonId);
    expect(checked).toMatchObject({ warnings: ['No widget is registered for the type Own.', ...warnings] });

    const bare = await buildPackage({
      blocks: () => [question('q', { choices: [] }), question('p', { points: 0, choices: [] })],
    });
    const second = await importJson(bare.path);
    expect(second).toMatchObject({
      warnings: [
        `lesson.json: ${place}MultipleChoice "q": has no right answer, so it is not scored; set points to 0 if that is meant`,
      ],
    });
  });

  test('check fails for a lesson that cannot be played, and publish rejects it unless forced', async () => {
    const { organization } = await buildOrganization(harness);
    const { path } = await buildPackage({ sections: [] });
    const { lessonId } = await buildVersion(harness, organization, path, { publish: false });
    const checked = await lecternHere(harness.environment, 'lesson', 'check', lessonId, '--json');
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      playability: { valid: false, errors: [{ code: 'no_sections' }] },
    });
    const refused = await lecternHere(harness.environment, 'lesson', 'publish', lessonId, '--json');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^lectern: The lesson cannot be played yet: .*--force\.\n$/);
    const forced = await lecternJson(harness.environment, 'lesson', 'publish', lessonId, '--force');
    expect(forced).toMatchObject({ status: 'published' });
  });
});

describe('lectern lesson export', () => {
  test("writes a version's archive into a file, or into a folder under its default name", async () => {
    const version = await buildPublished();
    const folder = await temporaryFolder();
    const file = join(folder, 'my.zip');
    const command = ['lesson', 'export', version.lessonId, '--version', '1', '--out'];
    const exported = (await lecternJson(harness.environment, ...command, file)) as Record<string, unknown>;
    const bytes = await readFile(file);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(exported).toStrictEqual({ path: file, size: bytes.length, sha256 });

    const again = await lecternJson(harness.environment, ...command, folder);
    expect(again).toStrictEqual({ ...exported, path: join(folder, 'a-lesson-v1.zip') });
    expect((await readdir(folder)).sort()).toStrictEqual(['a-lesson-v1.zip', 'my.zip']);
  });

  test('links are followed, and pipes and devices are written to, not replaced', async () => {
    const version = await buildPublished();
    const folder = await temporaryFolder();
    const command = ['lesson', 'export', version.lessonId, '--out'];
    const plain = join(folder, 'plain.zip');
    await lecternJson(harness.environment, ...command, plain);
    const archive = await readFile(plain);
    await mkdir(join(folder, 'elsewhere'));
    for (const [link, target] of [
      ['whole.zip', 'elsewhere/whole.zip'],
      ['new.zip', 'whole.zip'],
      ['folder', 'elsewhere'],
    ] as const) {
      await symlink(target, join(folder, link));
    }
    await writeFile(join(folder, 'elsewhere', 'whole.zip'), 'old');
    for (const link of ['new.zip', 'folder'])
      await lecternJson(harness.environment, ...command, join(folder, link));
    expect((await readFile(join(folder, 'elsewhere', 'whole.zip'))).equals(archive)).toBe(true);
    expect((await readdir(join(folder, 'elsewhere'))).sort()).toEqual(['a-lesson-v1.zip', 'whole.zip']);
    for (const link of ['whole.zip', 'new.zip', 'folder']) {
      expect((await lstat(join(folder, link))).isSymbolicLink()).toBe(true);
    }

    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [piped] = await Promise.all([readFile(pipe), lecternJson(harness.environment, ...command, pipe)]);
    expect(piped.equals(archive)).toBe(true);
    expect((await lstat(pipe)).isFIFO()).toBe(true);

    const redirected = join(folder, 'redirected.zip');
    for (const [script, written] of [
      ['"$@" /dev/stdout > "$0"', archive],
      ['printf before > "$0"; "$@" /dev/stdout >> "$0"', Buffer.concat([Buffer.from('before'), archive])],
      ['"$@" /dev/stdout | cat > "$0"', archive],
    ] as const) {
      const shell = ['/bin/sh', '-c', script, redirected, ...lecternCommand, ...command];
      const { code, stderr } = await startCommand(shell, harness.environment).finished;
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('sha256') as string,
      });
      expect((await readFile(redirected)).equals(written)).toBe(true);
    }
    expect((await lstat('/dev/stdout')).isSymbolicLink()).toBe(true);
  });

  test('only published versions can be exported', async () => {
    const { organization } = await buildOrganization(harness);
    const { path } = await buildPackage();
    const { lessonId } = await buildVersion(harness, organization, path, { publish: false });
    const target = join(await temporaryFolder(), 'a.zip');
    const { code, stdout, stderr } = await lecternHere(
      harness.environment,
      ...['lesson', 'export', lessonId, '--out', target, '--json'],
    );
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
    expect(stderr).toBe('lectern: No version of a-lesson is published. See: lectern lesson publish --help\n');
  });

  test('missing files cause a warning, and the archive is written without them', async () => {
    const { organization } = await buildOrganization(harness);
    const { path } = await buildPackage({ media: [{ sourceUrl: origin.url('/gone.png') }] });
    const { lessonId } = await buildVersion(harness, organization, path);
    const target = join(await temporaryFolder(), 'a.zip');
    const { code, stdout, stderr } = await lecternHere(
      harness.environment,
      ...['lesson', 'export', lessonId, '--out', target, '--json'],
    );
    expect(stderr).toBe(
      'warning: 1 file could not be had; see failedMedia and failedWidgets in manifest.json\n',
    );
    expect(JSON.parse(stdout)).toMatchObject({ path: target });
    expect(code).toBe(0);
  });

  test('a missing folder is reported before the build', async () => {
    const version = await buildPublished();
    const folder = await temporaryFolder();
    const target = join(folder, 'none', 'a.zip');
    const command = ['lesson', 'export', version.lessonId, '--out', target];
    const { code, stdout, stderr } = await lecternHere(harness.environment, ...command);
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^lectern: Cannot write \S+\/none\/a\.zip: ENOENT.*\n$/);
    expect(await readdir(folder)).toStrictEqual([]);
    expect(await harness.store.archives.open(exportJobOf(version).key)).toBeNull();
  });

  test('a full disk gives one clear message, keeps the old file and leaves no partial file', async () => {
    const version = await buildPublished();
    const folder = await temporaryFolder();
    const target = join(folder, 'a.zip');
    const command = ['lesson', 'export', version.lessonId, '--out', target];
    await lecternJson(harness.environment, ...command);
    const before = await readFile(target);

    // A file size limit simulates the full disk; the archive itself is in the store already.
    const limited = ['/bin/sh', '-c', 'ulimit -f 1; exec "$@"', 'sh', ...lecternCommand, ...command];
    const { code, stdout, stderr } = await startCommand(limited, harness.environment).finished;
    expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^lectern: Cannot write \S+a\.zip: EFBIG.*\n$/);
    expect(await readdir(folder)).toStrictEqual(['a.zip']);
    expect(await readFile(target)).toStrictEqual(before);
  });

  test('interrupted while it waits for a foreign server, it exits at once and writes nothing', async () => {
    origin.script('/slow.png', hang());
    const { organization } = await buildOrganization(harness);
    const { path } = await buildPackage({ media: [{ sourceUrl: origin.url('/slow.png') }] });
    const { lessonId } = await buildVersion(harness, organization, path);
    const folder = await temporaryFolder();
    const running = startLectern(
      harness.environment,
      'lesson',
      'export',
      lessonId,
      '--out',
      join(folder, 'a.zip'),
    );
    await waitFor('the download', () => origin.requests('/slow.png') > 0, 20_000);
    running.kill('SIGINT');
    const { code, stdout, stderr } = await running.finished;
    expect({ code, stdout, stderr }).toStrictEqual({ code: 1, stdout: '', stderr: 'lectern: interrupted\n' });
    expect(await readdir(folder)).toStrictEqual([]);
  });

  test.runIf(process.platform === 'linux')('a terminal shows a progress bar up to all files', async () => {
    const version = await buildPublished();
    const folder = await temporaryFolder();
    await mkdir(folder, { recursive: true });
    const target = join(folder, 'a.zip');
    const inner = [...lecternCommand, 'lesson', 'export', version.lessonId, '--out', target];
    const terminal = ['script', '--quiet', '--return', '--command', inner.join(' '), '/dev/null'];
    const { code, stdout } = await startCommand(terminal, { ...harness.environment, TERM: 'xterm' }).finished;
    expect(stdout).toMatch(/a-lesson-v1\.zip \[.+\] (\d+)\/\1 files, \d/);
    expect(code).toBe(0);
  });
});
