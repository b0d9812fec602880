import { existsSync } from 'node:fs';
import { access, constants, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import bundledChromium from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';
import project from '../../package.json' with { type: 'json' };

const systemNames = ['chromium', 'chromium-browser', 'google-chrome'];

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * As browsers are that keep no cookies for pages in frames of other sites. It needs partitioned storage, which
 * playwright switches off: of two such arguments the last counts.
 */
const strictFlags = ['--test-third-party-cookie-phaseout', '--disable-features=HttpsUpgrades,MediaRouter'];

/**
 * Starts a real Chromium: the system's, else the one of the npm package `@sparticuz/chromium` (Linux x64).
 * Close it when the tests are done; its pages and its profile go with it.
 *
 * @param options.thirdPartyCookies whether it keeps cookies for pages in frames of other sites, as it does unless told
 *   otherwise; partitioned ones it always keeps
 * @throws when no browser can be started: a test that needs one fails, it is never skipped
 */
export async function launchBrowser({ thirdPartyCookies = true } = {}): Promise<Browser> {
  const executablePath = (await systemChromium()) ?? (await unpackedChromium());
  const args = thirdPartyCookies ? flags : [...flags, ...strictFlags];
  return chromium.launch({ executablePath, args, headless: true });
}

async function systemChromium(): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of systemNames) {
      const path = join(folder, name);
      const runs = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (runs) return path;
    }
  }
  return undefined;
}

/**
 * The package unpacks itself into the temporary folder and takes any file of the right name there for a whole
 * browser. So it is unpacked under a name of our own and moved into place when it is whole: test files that start
 * at the same time, or a run that was killed half-way, leave no broken one behind.
 */
async function unpackedChromium(): Promise<string> {
  const version = project.devDependencies['@sparticuz/chromium'];
  const folder = join(tmpdir(), `lectern-chromium-${version}`);
  const executable = join(folder, 'chromium');
  if (existsSync(executable)) return executable;

  const attempt = await mkdtemp(join(tmpdir(), 'lectern-chromium-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = attempt;
  try {
    await bundledChromium.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  try {
    await rename(attempt, folder);
  } catch (error) {
    await rm(attempt, { recursive: true, force: true });
    // Another process was first, which is as good.
    if (!existsSync(executable)) throw error;
  }
  return executable;
}
