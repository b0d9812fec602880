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

Settings come from the environment or a .env file. Without MONGODB_URI and
REDIS_URL, Lectern runs its own servers on the data directory
(LECTERN_DATA_DIR, .lectern) while a command needs them.

Results go to stdout, messages to stderr.
Exit codes: 0 success, 1 failure, 2 usage error.`;

const exitFailure = 1;
const exitUsage = 2;

/** Runs a command line, prints its error, and sets this process's exit code. */
export async function run(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed it. Requested help is not a failure.
      process.exitCode = error.exitCode === 0 ? 0 : exitUsage;
    } else {
      note(`lectern: ${messageOf(error)}`);
      process.exitCode = exitFailure;
    }
  }
}

/**
 * Returns the whole command line. Subcommands made by `.command()` inherit how errors are printed and thrown. Commands
 * import modules for Redis, downloads, packages and archives only when they run: loading them all takes longer than
 * most commands.
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
    // After a command, --version is that command's option: the version of a lesson.
    .enablePositionalOptions()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'lectern: ')) })
    .exitOverride();

  program.commandsGroup('Run Lectern:');
  addStartCommand(program);
  addDemoCommand(program);
  addDoctorCommand(program);
  program.commandsGroup('Manage its content:');
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

/** Commander's own help command prints the nearest command's help for an unknown command, without an error. */
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

/** Makes each command point to its own help below an error. */
function pointToHelp(command: Command, name: string): void {
  command.showHelpAfterError(`See: ${name} --help`);
  for (const subcommand of command.commands) pointToHelp(subcommand, `${name} ${subcommand.name()}`);
}
