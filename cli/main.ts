#!/usr/bin/env node
import { codeOf } from '../shared/platform/errors.ts';
import { run } from './program.ts';

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
  process.exit();
});

await run(process.argv.slice(2));
