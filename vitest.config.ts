import { defineConfig } from 'vitest/config';
import SlowFirst from './test/support/slow-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/heavy/**'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/totals-reporter.ts'],
    // Which Node.js Lectern needs is said by Lectern, not by Amazon's client.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true', START_COMPILED: '1' },
    // For tests that hang. No test takes so long, not even while other programs keep all cores busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Tests wait for servers and browsers half of their time, so two cores have work for more processes.
    maxWorkers: 5,
    // Loading the modules again for each file took a sixth of the run; a test keeps its state in its harness.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: SlowFirst },
  },
});
