import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { messageOf } from '../shared/platform/errors.ts';
import { packageRoot } from '../shared/platform/paths.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addKeyCommands } from './commands/key.ts';
import { addLessonCommands } from './commands/lesson.ts';
import { addLtiCommands } from './commands/lti.ts';
import { addOrganizationCommands } from './commands/org.ts';
import { addPlatformCommands } from './commands/platform.ts';
import { addDemoCommand, addStartCommand } from './commands/start.ts';
import { addTokenCommands } from './commands/token.ts';
import { addUserCommands } from './commands/user.ts';
import { addWidgetCommands } from './commands/widget.ts';
import { note } from './terminal/output.ts';

const help = `
Example:
  lectern org create --slug acme --name "Acme" --plan edtech
  lectern key create --org acme
  lectern lesson import ./my-lesson --org acme --publish

Settings come from the environment, or from a .env file. Where MONGODB_URI and
REDIS_URL are not set, Lectern runs servers of its own on the data directory
(LECTERN_DATA_DIR, .lectern), for as long as a command needs them.

Results go to stdout, messages to stderr.
Exit codes: 0 done, 1 failed, 2 usage error.`;

const exitFailure = 1;
const exitUsage = 2;

/** Runs a command line, prints its error if there is one, and sets the exit code of this process. */
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

/**
 * The whole command line. A subcommand made by `.command()` inherits how errors are printed and thrown. What needs
 * Redis, downloads, packages or archives is imported by the command that does it, when it runs: all of it takes longer
 * to load than most commands take to run.
 */
export function createProgram(): Command {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const program = new Command('lectern')
    .description('Lesson delivery: publish lessons, let learners play them, and export them as ZIP archives.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', help)
    // --version behind a command is that command's own: the version of a lesson.
    .enablePositionalOptions()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'lectern: ')) })
    .exitOverride();

  program.commandsGroup('Run Lectern:');
  addStartCommand(program);
  addDemoCommand(program);
  addDoctorCommand(program);
  program.commandsGroup('Manage what it serves:');
  addOrganizationCommands(program);
  addKeyCommands(program);
  addUserCommands(program);
  addLessonCommands(program);
  addTokenCommands(program);
  addWidgetCommands(program);
  addPlatformCommands(program);
  addLtiCommands(program);
  for (const group of program.commands) group.helpCommand(false);
  program.helpCommand(false).addCommand(helpCommand(program));
  pointToHelp(program, 'lectern');
  return program;
}

/** Commander's own prints the help of the nearest command that exists, and does not say that the one named does not. */
function helpCommand(program: Command): Command {
  const help: Command = new Command('help')
    .description('print the help of a command')
    .argument('[command...]', 'such as: lesson import')
    .allowUnknownOption()
    .helpOption(false)
    .helpGroup('Run Lectern:')
    .copyInheritedSettings(program);
  return help.action((names: string[]) => {
    let command = program;
    for (const [index, name] of names.entries()) {
      const found = command.commands.find((one) => one.name() === name);
      if (found === undefined)
        help.error(`lectern: unknown command '${names.slice(0, index + 1).join(' ')}'`);
      command = found;
    }
    command.help();
  });
}

/** Has each command name its own help below an error. */
function pointToHelp(command: Command, name: string): void {
  command.showHelpAfterError(`See: ${name} --help`);
  for (const subcommand of command.commands) pointToHelp(subcommand, `${name} ${subcommand.name()}`);
}
