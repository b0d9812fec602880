import { Command, CommanderError } from 'commander';
import { messageOf } from '../shared/platform/errors.ts';
import { release } from '../shared/platform/paths.ts';
import { addDemoCommand, addDoctorCommand, addStartCommand } from './commands/start.ts';
import { note } from './terminal/output.ts';

const help = `
Example:
  lectern org create --slug acme --name "Acme" --plan edtech
  lectern key create --org acme
  lectern lesson import ./my-lesson --org acme --publish

Settings come from the environment or a .env file. Without MONGODB_URI and
REDIS_URL, Lectern runs its own servers in the data directory
(LECTERN_DATA_DIR, by default .lectern) while a command needs them.

Results go to stdout, messages to stderr.
Exit codes: 0 success, 1 failure, 2 usage error.`;

const exitFailure = 1;
const exitUsage = 2;

/** The groups of commands. A group's module is imported when a command line names the group. */
const groups = [
  {
    name: 'org',
    description: 'organizations: the tenants that own lessons and credentials',
    load: async () => (await import('./commands/org.ts')).addOrganizationCommands,
  },
  {
    name: 'key',
    description: 'API credentials of organizations',
    load: async () => (await import('./commands/key.ts')).addKeyCommands,
  },
  {
    name: 'user',
    description: 'users of an organization, who log in with a password',
    load: async () => (await import('./commands/user.ts')).addUserCommands,
  },
  {
    name: 'lesson',
    description: 'lessons and their versions',
    load: async () => (await import('./commands/lesson.ts')).addLessonCommands,
  },
  {
    name: 'cartridge',
    description: "write a Common Cartridge with LTI links to an organization's published lessons",
    load: async () => (await import('./commands/cartridge.ts')).addCartridgeCommand,
  },
  {
    name: 'learner',
    description: 'learners and their data',
    load: async () => (await import('./commands/learner.ts')).addLearnerCommands,
  },
  {
    name: 'audit',
    description: 'the audit log of an organization: who did what',
    load: async () => (await import('./commands/audit.ts')).addAuditCommands,
  },
  {
    name: 'token',
    description: 'embed tokens, each for one learner and one lesson',
    load: async () => (await import('./commands/token.ts')).addTokenCommands,
  },
  {
    name: 'webhook',
    description: "receivers of an organization's events",
    load: async () => (await import('./commands/webhook.ts')).addWebhookCommands,
  },
  {
    name: 'xapi',
    description: 'learning record stores that get statements about learners (xAPI)',
    load: async () => (await import('./commands/xapi.ts')).addXapiCommands,
  },
  {
    name: 'deliveries',
    description: 'everything that Lectern sends for an organization: events, statements, grades',
    load: async () => (await import('./commands/deliveries.ts')).addDeliveriesCommands,
  },
  {
    name: 'widget',
    description: "an organization's own widgets",
    load: async () => (await import('./commands/widget.ts')).addWidgetCommands,
  },
  {
    name: 'platform',
    description: 'learning platforms (LTI 1.3) whose courses open lessons of an organization',
    load: async () => (await import('./commands/platform.ts')).addPlatformCommands,
  },
  {
    name: 'lti',
    description: 'scores for learning platforms, and an LTI platform simulator',
    load: async () => (await import('./commands/lti.ts')).addLtiCommands,
  },
];

/** Runs a command line, prints its error, and sets this process's exit code. */
export async function run(args: readonly string[]): Promise<void> {
  try {
    const names = args.filter((arg) => !arg.startsWith('-'));
    const named = names[0] === 'help' ? names[1] : names[0];
    const program = await createProgram((name) => name === named);
    await program.parseAsync(args, { from: 'user' });
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
 * Returns the command line. Commands inherit how errors are printed and thrown. Loading all modules takes longer than
 * most commands, so groups and actions import them when they run.
 *
 * @param isNeeded returns whether a group gets its commands, or only appears in the help.
 */
export async function createProgram(isNeeded: (group: string) => boolean = () => true): Promise<Command> {
  const program = new Command('lectern')
    .description('Lesson delivery: publish lessons, let learners play them, and export them as ZIP archives.')
    .version(release, '-V, --version', 'print the version')
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
  program.commandsGroup('Manage content:');
  for (const { name, description, load } of groups) {
    const group = program.command(name).description(description);
    if (isNeeded(name)) (await load())(group);
  }
  for (const group of program.commands) group.helpCommand(false);
  program.helpCommand(false).addCommand(helpCommand(program));
  pointToHelp(program, 'lectern');
  return program;
}

/** Commander's own help command prints the nearest command's help for an unknown command, without an error. */
function helpCommand(program: Command): Command {
  const help: Command = new Command('help')
    .description('print help for a command')
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
