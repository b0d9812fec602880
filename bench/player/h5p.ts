import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFetchFolder } from '../../shared/embedded/find-mongod.ts';
import { messageOf } from '../../shared/platform/errors.ts';
import { sampleSteps, writePictures } from './lesson.ts';

const run = promisify(execFile);

const version = '3.8.2';
const tarball = {
  name: `h5p-standalone-${version}.tgz`,
  sha512: 'r7eQtTzBk/dbaQZ+tA9XD5FeSmyMxlypRZXudiheCnC8zAT0/zNgUvO4MZtZaznwfYVo98o7do5uxLTUQrxxwg==',
};

export const h5pName = `h5p-standalone ${version}`;

/**
 * Fetches h5p-standalone from npm once, and keeps it in the user's cache. It is no dependency: its `preinstall` needs
 * yarn, so `npm ci` would fail where scripts run. None of its scripts run here.
 *
 * @returns its `dist` folder; null, with a message, if it cannot be fetched
 */
export async function fetchH5p(cacheDir: string): Promise<string | null> {
  const kept = join(cacheDir, `h5p-standalone-${version}`);
  try {
    if (!existsSync(kept)) await fetchInto(kept, cacheDir);
    return join(kept, 'dist');
  } catch (error) {
    console.error(`Without ${h5pName}, which could not be fetched from npm: ${messageOf(error)}`);
    return null;
  }
}

async function fetchInto(target: string, cacheDir: string): Promise<void> {
  await withFetchFolder(cacheDir, async (folder) => {
    const pack = ['pack', `h5p-standalone@${version}`, '--ignore-scripts', '--silent'];
    await run('npm', pack, { cwd: folder });
    const bytes = await readFile(join(folder, tarball.name));
    if (createHash('sha512').update(bytes).digest('base64') !== tarball.sha512)
      throw new Error(`${tarball.name} has another digest than expected`);
    await run('tar', ['-xzf', tarball.name], { cwd: folder });
    await rename(join(folder, 'package'), target).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(target)) throw error;
    });
  });
}

/**
 * Writes `h5p.html`, a page like in the README of h5p-standalone, which shows the lesson.
 *
 * H5P's own content types are not on npm, so the lesson uses the type in `h5p-lesson/`, with one script and one
 * stylesheet. Real content types load many more files, so this is the minimum for h5p-standalone.
 */
export async function writeH5pPage(folder: string, dist: string): Promise<void> {
  const library = { machineName: 'H5P.BenchLesson', majorVersion: 1, minorVersion: 0 };
  const content = join(folder, 'h5p', 'content');
  await mkdir(content, { recursive: true });
  await writePictures(join(content, 'images'));
  await cp(dist, join(folder, 'h5p-standalone'), { recursive: true });
  await cp(join(import.meta.dirname, 'h5p-lesson'), join(folder, 'h5p', 'H5P.BenchLesson-1.0'), {
    recursive: true,
  });
  await writeFile(
    join(folder, 'h5p', 'h5p.json'),
    JSON.stringify({
      title: 'Sample',
      language: 'en',
      mainLibrary: library.machineName,
      embedTypes: ['iframe'],
      license: 'U',
      preloadedDependencies: [library],
    }),
  );
  await writeFile(join(content, 'content.json'), JSON.stringify({ steps: sampleSteps }));
  await writeFile(
    join(folder, 'h5p.html'),
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sample</title>
</head>
<body>
<div id="h5p-container"></div>
<script src="h5p-standalone/main.bundle.js"></script>
<script>
new H5PStandalone.H5P(document.getElementById('h5p-container'), {
  h5pJsonPath: '/h5p',
  frameJs: '/h5p-standalone/frame.bundle.js',
  frameCss: '/h5p-standalone/styles/h5p.css',
});
</script>
</body>
</html>
`,
  );
}
