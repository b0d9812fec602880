import { defineConfig } from 'vitest/config';
import everyday from './vitest.config.ts';

/** What needs more time and space than `npm test` may take: `npm run test:heavy`. One file at a time, for the figures. */
export default defineConfig({
  ...everyday,
  test: {
    ...everyday.test,
    include: ['test/heavy/**/*.test.ts'],
    exclude: [],
    testTimeout: 30 * 60_000,
    hookTimeout: 5 * 60_000,
    fileParallelism: false,
  },
});
