#!/usr/bin/env node
import { CommanderError } from 'commander';
import { codeOf, messageOf } from '../shared/errors.ts';
import { note } from './output.ts';
import { createProgram } from './program.ts';

const exitFailure = 1;
const exitUsage = 2;

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
  process.exit();
});

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed it. Help that was asked for is no failure.
    process.exitCode = error.exitCode === 0 ? 0 : exitUsage;
  } else {
    note(`lectern: ${messageOf(error)}`);
    process.exitCode = exitFailure;
  }
}
