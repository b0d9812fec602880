#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { messageOf } from '../shared/errors.ts';
import { packageRoot } from '../shared/paths.ts';
import { demoCommand } from './commands/demo.ts';
import { doctorCommand } from './commands/doctor.ts';
import { keyCommands } from './commands/key.ts';
import { lessonCommands } from './commands/lesson.ts';
import { organizationCommands } from './commands/org.ts';
import { startCommand } from './commands/start.ts';
import { widgetCommands } from './commands/widget.ts';

const exitFailure = 1;
const exitUsage = 2;

const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  version: string;
};

const program = new Command('lectern')
  .description('Lesson delivery: publish lessons, and export them as self-contained ZIP archives.')
  .version(version)
  .showHelpAfterError('(add --help for how it is used)')
  .addHelpText(
    'after',
    `
Settings come from the environment or a .env file (see .env.example). Without MONGODB_URI and REDIS_URL, servers of
the data directory (LECTERN_DATA_DIR, .lectern) are used, and started for the time of the command.
Exit codes: 0 done, 1 failed, 2 wrong usage.`,
  );

for (const command of [
  organizationCommands(),
  keyCommands(),
  lessonCommands(),
  widgetCommands(),
  doctorCommand(),
  startCommand(),
  demoCommand(),
]) {
  program.addCommand(command);
}
exitByException(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed it. Help that was asked for is no failure.
    process.exitCode = error.exitCode === 0 ? 0 : exitUsage;
  } else {
    process.stderr.write(`lectern: ${messageOf(error)}\n`);
    process.exitCode = exitFailure;
  }
}

/** Subcommands do not inherit it. */
function exitByException(command: Command): void {
  command.exitOverride();
  for (const subcommand of command.commands) exitByException(subcommand);
}
