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

/** Replaces the features that playwright disables, because the last of two such arguments counts. */
const withoutFeatures = (...more: string[]) =>
  // A spare renderer for the next page takes a fifth of the CPU.
  `--disable-features=${['HttpsUpgrades', 'MediaRouter', 'PaintHolding', 'SpareRendererForSitePerProcess', ...more].join()}`;

/** Emulates browsers that block third-party cookies, which needs partitioned storage. */
const strictFlags = ['--test-third-party-cookie-phaseout', withoutFeatures()];
const lenientFlags = [withoutFeatures('ThirdPartyStoragePartitioning')];

/**
 * Starts a real Chromium: the system's, else that of the npm package `@sparticuz/chromium` (Linux x64). Closing it
 * removes its pages and its profile.
 *
 * @param options.thirdPartyCookies whether it keeps third-party cookies, as by default; it always keeps partitioned
 * ones
 * @throws if no browser can start: tests that need one fail, and are never skipped
 */
export async function launchBrowser({ thirdPartyCookies = true } = {}): Promise<Browser> {
  const executablePath = (await systemChromium()) ?? (await unpackedChromium());
  const args = [...flags, ...(thirdPartyCookies ? lenientFlags : strictFlags)];
  return chromium.launch({ executablePath, args, headless: true });
}

let shared: Promise<Browser> | undefined;

/**
 * Returns the Chromium that the test files of this process share; it ends with the process. Each file closes its
 * contexts.
 */
export async function sharedBrowser(): Promise<Browser> {
  const browser = await (shared ??= launchBrowser());
  if (browser.isConnected()) return browser;
  // It crashed in an earlier file.
  return (shared = launchBrowser());
}

export async function closeContexts(browser: Browser): Promise<void> {
  for (const context of browser.contexts()) await context.close();
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
 * The package unpacks itself into the temporary folder, and would accept an incomplete file there. It therefore unpacks
 * under a unique name and is moved into place when complete. Concurrent test files and killed runs leave no broken
 * browser.
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
    // Another process was faster.
    if (!existsSync(executable)) throw error;
  }
  return executable;
}
