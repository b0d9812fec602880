import { CommanderError } from 'commander';
import { messageOf } from '../shared/platform/errors.ts';
import { note } from './output.ts';
import { createProgram } from './program.ts';

const exitFailure = 1;
const exitUsage = 2;

/** Runs a command line to its end, says what went wrong, and sets the exit code of this process. */
export async function run(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed it. Help that was asked for is no failure.
      process.exitCode = error.exitCode === 0 ? 0 : exitUsage;
    } else {
      note(`lectern: ${messageOf(error)}`);
      process.exitCode = exitFailure;
    }
  }
}
