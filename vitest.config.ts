import type { Plugin } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import SlowFirst from './test/support/slow-first.ts';

/** Returns a plugin that changes a line of a module. */
function change(path: string, line: string, changed: string): Plugin {
  return {
    name: `change-${path}`,
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith(path)) return undefined;
      if (!code.includes(line)) throw new Error(`${path} has no ${line}`);
      return code.replace(line, changed);
    },
  };
}

const support = new URL('test/support/', import.meta.url).pathname;

const plugins = [
  // Tests start processes from dist/, as installations do, which is four times as fast as from the sources.
  change(
    '/shared/platform/paths.ts',
    "const runsFromSource = import.meta.url.endsWith('.ts')",
    'const runsFromSource = false',
  ),
  // Tests share RSA keys.
  ...['/shared/lti/keys.ts', '/simulator/keys.ts'].map((path) =>
    change(path, 'await generateKeyPair(', `await (await import('${support}rsa-keys.ts')).sharedKeyPair(`),
  ),
  // A hash of a password takes a millisecond instead of a third of a second, and the best compression of the player as long.
  change('/shared/platform/passwords.ts', 'logN: 15, r: 8, p: 3', 'logN: 11, r: 8, p: 1'),
  change('/api/http/encoded-file.ts', ': constants.BROTLI_MAX_QUALITY', ': 5'),
  // A process of the tests builds the indexes of a database once.
  change(
    '/shared/models/database.ts',
    'export async function buildIndexes(db: Database): Promise<void> {',
    `export async function buildIndexes(db: Database): Promise<void> {
      if ((await import('${support}built-indexes.ts')).hasIndexes(db)) return;`,
  ),
];

export default defineConfig({
  plugins,
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/heavy/**'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/totals-reporter.ts'],
    // Which Node.js Lectern needs is said by Lectern, not by Amazon's client.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    // For tests that hang. No test takes so long, not even while other programs keep all cores busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { interval: 100, timeout: 20_000 } },
    // Tests wait for servers and browsers, so two cores have work for more processes. Each loads all modules once, for
    // ten seconds.
    maxWorkers: 4,
    // A larger space for new objects: fewer garbage collections.
    execArgv: ['--max-semi-space-size=32'],
    // Loading the modules again for each file took a sixth of the run; a test keeps its state in its harness.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: SlowFirst },
  },
});
