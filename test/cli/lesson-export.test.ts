import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { takeApart } from '../exports/exports.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { hang } from '../support/origin.ts';
import { useOrigin } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  errorIn,
  lecternCommand,
  lecternJson,
  startCommand,
  startLectern,
  useCommandLine,
} from './command-line.ts';
import { temporaryFolder } from '../support/folders.ts';
import { pngWith } from '../exports/pictures.ts';

const origin = useOrigin();
const { harness, run, json, errorOf } = useCommandLine(() => ({
  LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
}));

/** Builds a lesson with one picture and returns a version, and the command that exports it to a path. */
async function buildExport(medium: object = { bytes: pngWith('a picture') }, publish = true) {
  const { organization } = await buildOrganization(harness);
  const { path } = await buildPackage({ media: [medium] });
  const version = await buildVersion(harness, organization, path, { publish });
  return { version, command: ['lesson', 'export', version.lessonId, '--out'] };
}

test("writes a version's archive into a file, or into a folder under its default name", async () => {
  const { command } = await buildExport();
  const folder = await temporaryFolder();
  const file = join(folder, 'my.zip');
  const exported = (await json(...command, file, '--version', '1')) as Record<string, unknown>;
  const bytes = await readFile(file);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(exported).toStrictEqual({ path: file, size: bytes.length, sha256 });

  const again = await json(...command, folder);
  expect(again).toStrictEqual({ ...exported, path: join(folder, 'a-lesson-v1.zip') });
  expect((await readdir(folder)).sort()).toStrictEqual(['a-lesson-v1.zip', 'my.zip']);
});

test.each([
  ['--include', 'player'],
  ['--format', 'scorm2004'],
])('a host with another time zone, locale and umask writes the same bytes: %s %s', async (...profile) => {
  const { command } = await buildExport();
  const folder = await temporaryFolder();
  const here = { ...harness.environment, PUBLIC_URL: 'https://lessons.example' };
  const there = {
    ...{ ...here, LECTERN_DATA_DIR: join(folder, 'data'), TZ: 'Pacific/Chatham' },
    ...{ LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
  };
  await cp(harness.config.storeDir, join(folder, 'data', 'store'), { recursive: true });
  const [first, second] = [join(folder, 'here.zip'), join(folder, 'there.zip')];
  await lecternJson(here, ...command, first, ...profile);
  const shell = ['/bin/sh', '-c', 'umask 077 && exec "$@"', 'sh', ...lecternCommand];
  const { finished } = startCommand([...shell, ...command, second, ...profile], there);
  expect(await finished).toMatchObject({ code: 0 });
  expect((await readFile(second)).equals(await readFile(first))).toBe(true);
});

test('links are followed, and pipes and devices are written to, not replaced', async () => {
  const { command } = await buildExport();
  const folder = await temporaryFolder();
  const plain = join(folder, 'plain.zip');
  await json(...command, plain);
  const archive = await readFile(plain);
  const elsewhere = join(folder, 'elsewhere');
  await mkdir(elsewhere);
  const links = { 'whole.zip': 'elsewhere/whole.zip', 'new.zip': 'whole.zip', folder: 'elsewhere' };
  for (const [link, target] of Object.entries(links)) await symlink(target, join(folder, link));
  await writeFile(join(elsewhere, 'whole.zip'), 'old');
  for (const link of ['new.zip', 'folder']) await json(...command, join(folder, link));
  expect((await readFile(join(elsewhere, 'whole.zip'))).equals(archive)).toBe(true);
  expect((await readdir(elsewhere)).sort()).toEqual(['a-lesson-v1.zip', 'whole.zip']);
  for (const link of Object.keys(links))
    expect((await lstat(join(folder, link))).isSymbolicLink()).toBe(true);

  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [piped] = await Promise.all([readFile(pipe), json(...command, pipe)]);
  expect(piped.equals(archive)).toBe(true);
  expect((await lstat(pipe)).isFIFO()).toBe(true);

  const redirected = join(folder, 'redirected.zip');
  for (const [script, written] of [
    ['printf before > "$0"; "$@" /dev/stdout >> "$0"', Buffer.concat([Buffer.from('before'), archive])],
    ['"$@" /dev/stdout | cat > "$0"', archive],
  ] as const) {
    const shell = ['/bin/sh', '-c', script, redirected, ...lecternCommand, ...command];
    const { code, stderr } = await startCommand(shell, harness.environment).finished;
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('sha256') as string });
    expect((await readFile(redirected)).equals(written)).toBe(true);
  }
  expect((await lstat('/dev/stdout')).isSymbolicLink()).toBe(true);
});

test('--include player writes the same archive as the API with include=player', async () => {
  const { version, command } = await buildExport();
  const exported = await json(...command, await temporaryFolder(), '--include', 'player');
  const { path, sha256 } = exported as { path: string; sha256: string };
  const { files } = await takeApart(await readFile(path));
  expect([...files.keys()]).toContain('index.html');
  const profile = `player:${(await playerRelease()).name}`;
  const stored = await harness.store.archives.open(exportJobOf(version, profile).key);
  expect(stored?.sha256).toBe(sha256);
  await stored?.close();
});

test('only published versions can be exported', async () => {
  const { command } = await buildExport(undefined, false);
  expect(await errorOf(...command, join(await temporaryFolder(), 'a.zip'), '--json')).toBe(
    'lectern: No version of a-lesson is published. See: lectern lesson publish --help\n',
  );
});

test('missing files cause a warning, and the archive is written without them', async () => {
  const { command } = await buildExport({ sourceUrl: origin.url('/gone.png') });
  const target = join(await temporaryFolder(), 'a.zip');
  const { code, stdout, stderr } = await run(...command, target, '--json');
  expect(stderr).toBe(
    'warning: 1 file could not be downloaded; see failedMedia and failedWidgets in manifest.json\n',
  );
  expect(JSON.parse(stdout)).toMatchObject({ path: target });
  expect(code).toBe(0);
});

test('a missing folder is reported before the build', async () => {
  const { version, command } = await buildExport();
  const folder = await temporaryFolder();
  expect(await errorOf(...command, join(folder, 'none', 'a.zip'))).toMatch(
    /^lectern: Cannot write \S+\/none\/a\.zip: ENOENT.*\n$/,
  );
  expect(await readdir(folder)).toStrictEqual([]);
  expect(await harness.store.archives.open(exportJobOf(version).key)).toBeNull();
});

test('a full disk gives one clear message, keeps the old file and leaves no partial file', async () => {
  const { command } = await buildExport();
  const folder = await temporaryFolder();
  const target = join(folder, 'a.zip');
  await json(...command, target);
  const before = await readFile(target);

  // A file size limit simulates the full disk; the archive itself is in the store already.
  const limited = ['/bin/sh', '-c', 'ulimit -f 1; exec "$@"', 'sh', ...lecternCommand, ...command, target];
  const finished = await startCommand(limited, harness.environment).finished;
  expect(errorIn(finished)).toMatch(/^lectern: Cannot write \S+a\.zip: EFBIG.*\n$/);
  expect(await readdir(folder)).toStrictEqual(['a.zip']);
  expect(await readFile(target)).toStrictEqual(before);
});

test('interrupted while it waits for a foreign server, it exits at once and writes nothing', async () => {
  origin.script('/slow.png', hang());
  const { command } = await buildExport({ sourceUrl: origin.url('/slow.png') });
  const folder = await temporaryFolder();
  const running = startLectern(harness.environment, ...command, join(folder, 'a.zip'));
  await waitFor('the download', () => origin.requests('/slow.png') > 0, 20_000);
  running.kill('SIGINT');
  expect(errorIn(await running.finished)).toBe('lectern: interrupted\n');
  expect(await readdir(folder)).toStrictEqual([]);
});

test.runIf(process.platform === 'linux')('a terminal shows a progress bar up to all files', async () => {
  const { command } = await buildExport();
  const inner = [...lecternCommand, ...command, join(await temporaryFolder(), 'a.zip')];
  const terminal = ['script', '--quiet', '--return', '--command', inner.join(' '), '/dev/null'];
  const { code, stdout } = await startCommand(terminal, { ...harness.environment, TERM: 'xterm' }).finished;
  expect(stdout).toMatch(/a-lesson-v1\.zip \[.+\] (\d+)\/\1 files, \d/);
  expect(code).toBe(0);
});
