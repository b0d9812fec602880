#!/usr/bin/env node
import { codeOf } from '../shared/platform/errors.ts';
import { requireNode } from '../shared/platform/node-version.ts';

requireNode();
// A reader that closes the pipe early, such as `head`, is not a failure.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
  process.exit();
});

const { run } = await import('./program.ts');
await run(process.argv.slice(2));
