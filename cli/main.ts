#!/usr/bin/env node
import { codeOf } from '../shared/platform/errors.ts';
import { run } from './program.ts';

// A reader that closes the pipe early, such as `head`, is not a failure.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
  process.exit();
});

await run(process.argv.slice(2));
