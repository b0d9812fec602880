import type { Plugin } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import SlowFirst from './test/support/slow-first.ts';

/** Lets tests start processes from dist/, as installations do, which is four times as fast as from the sources. */
const startCompiled: Plugin = {
  name: 'start-compiled',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/shared/platform/paths.ts')) return undefined;
    const compiled = code.replace(
      "const runsFromSource = import.meta.url.endsWith('.ts')",
      'const runsFromSource = false',
    );
    if (compiled === code) throw new Error('shared/platform/paths.ts has no runsFromSource');
    return compiled;
  },
};

/** Lets tests share RSA keys. */
const shareKeys: Plugin = {
  name: 'share-keys',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/(shared\/lti|simulator)\/keys\.ts$/.test(id)) return undefined;
    const shared = code.replace('await generateKeyPair(', 'await sharedKeyPair(');
    if (shared === code) throw new Error(`${id} creates no keys`);
    const module = new URL('test/support/rsa-keys.ts', import.meta.url).pathname;
    return `import { sharedKeyPair } from ${JSON.stringify(module)};\n${shared}`;
  },
};

export default defineConfig({
  plugins: [startCompiled, shareKeys],
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
    // Tests wait for servers and browsers half of their time, so two cores have work for more processes.
    maxWorkers: 5,
    // Loading the modules again for each file took a sixth of the run; a test keeps its state in its harness.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: SlowFirst },
  },
});
