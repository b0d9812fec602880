import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { lectern } from './command-line.ts';

/** A command that gets as far as connecting fails with 1, not with 2. */
const noServers = { MONGODB_URI: 'mongodb://127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' };
const uuid = '11111111-1111-4111-8111-111111111111';

describe('a usage error is reported with its cause and the help to read, and nothing is done', () => {
  const organization = ['org', 'create', '--slug', 'a', '--name', 'A'];
  test.each([
    ['an unknown command', ['nonsense'], "unknown command 'nonsense'", 'lectern'],
    ['an unknown subcommand', ['org', 'nonsense'], "unknown command 'nonsense'", 'lectern org'],
    ['an unknown option', ['org', 'list', '--nonsense'], "unknown option '--nonsense'", 'lectern org list'],
    ['a missing option', organization, "required option '--plan <plan>' not specified", 'lectern org create'],
    [
      'a missing argument',
      ['org', 'set-plan', 'a'],
      "missing required argument 'plan'",
      'lectern org set-plan',
    ],
    ['an extra argument', ['org', 'list', 'a'], 'too many arguments', 'lectern org list'],
    [
      'a plan that does not exist',
      [...organization, '--plan', 'gold'],
      'Allowed choices are',
      'lectern org create',
    ],
    ['an empty name', ['org', 'create', '--slug', 'a', '--name', ' '], '1 to 200', 'lectern org create'],
    ['a slug with capitals', ['org', 'create', '--slug', 'A'], 'a-z, 0-9', 'lectern org create'],
    ['an invalid lesson id', ['lesson', 'publish', '1'], 'must be a UUID', 'lectern lesson publish'],
    [
      'a version of a package',
      ['lesson', 'check', 'x.zip', '--version', '1'],
      '--version goes with a lesson id',
      'lectern lesson check',
    ],
    ['a version 0', ['lesson', 'check', uuid, '--version', '0'], 'whole number', 'lectern lesson check'],
    [
      'a time in the past',
      ['key', 'create', '--expires', '2020-01-01T00:00:00Z'],
      'in the future',
      'lectern key create',
    ],
    ['an invalid time', ['key', 'create', '--expires', 'soon'], 'a date and time', 'lectern key create'],
    ...['2999-02-30T12:00:00Z', '2999-01-31', '2999-01-31T12:00:00', '2999-13-01T12:00:00Z'].map(
      (time): [string, string[], string, string] => [
        `the time ${time}`,
        ['key', 'create', '--expires', time],
        'with an offset',
        'lectern key create',
      ],
    ),
    [
      '--force without --publish',
      ['lesson', 'import', 'x', '--org', 'a', '--force'],
      '--force goes with --publish',
      'lectern lesson import',
    ],
    ['help for an unknown command', ['help', 'nope'], "unknown command 'nope'", 'lectern help'],
    [
      'help for an unknown subcommand',
      ['help', 'lesson', 'nope'],
      "unknown command 'lesson nope'",
      'lectern help',
    ],
    ['an invalid key', ['key', 'revoke', 'secret'], 'begins with lkp_', 'lectern key revoke'],
    ['an invalid URL', ['lesson', 'import', '--media-base-url', 'ftp://a'], 'http', 'lectern lesson import'],
    ['no scores to resend', ['lti', 'resend'], 'say which scores', 'lectern lti resend'],
    ['an invalid score id', ['lti', 'resend', 'one'], 'must be a UUID', 'lectern lti resend'],
    ['scores, and all', ['lti', 'dismiss', uuid, '--failed'], 'say which scores', 'lectern lti dismiss'],
    [
      'scores of another organization',
      ['lti', 'resend', uuid, '--org', 'a'],
      'go with --failed',
      'lectern lti resend',
    ],
    ['too long a list', ['lti', 'scores', '--limit', '1001'], 'between 1 and 1000', 'lectern lti scores'],
    ['a core widget', ['widget', 'register', '--type', 'Image'], "Lectern's own", 'lectern widget register'],
  ])('%s', async (_, args, fault, command) => {
    const program = createProgram();
    let told = '';
    for (const each of [program, ...program.commands, ...allCommands(program)])
      each.configureOutput({ writeErr: (text) => (told += text) });

    await expect(program.parseAsync([...args, '--json'], { from: 'user' })).rejects.toThrow(CommanderError);
    expect(told).toMatch(/^lectern: /);
    expect(told).toContain(fault);
    expect(told.trimEnd().split('\n').at(-1)).toBe(`See: ${command} --help`);
  });
});

describe('the exit code', () => {
  test.each([
    ['a missing option', ['org', 'create', '--json']],
    ['an unknown command', ['nonsense']],
    ['no command', []],
    ['no subcommand', ['org']],
  ])('is 2 for %s, and stdout stays empty', async (_, args) => {
    const { code, stdout, stderr } = await lectern(noServers, ...args);
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^lectern: |^Usage: lectern( org)? /);
  });

  test.each([['--help'], ['help'], ['help org'], ['help lesson import'], ['--version']])(
    'is 0 for %s, which is a result',
    async (args) => {
      const { code, stdout, stderr } = await lectern(noServers, ...args.split(' '));
      expect(stdout).toMatch(/^(Usage: lectern|\d+\.\d+\.\d+)/);
      expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    },
  );
});

describe('the help', () => {
  const commands = allCommands(createProgram());

  test('describes every command, argument and option', () => {
    for (const command of commands) {
      const parts = [command, ...command.options];
      expect(parts.filter((part) => part.description === '')).toStrictEqual([]);
      expect(command.registeredArguments.filter((argument) => argument.description === '')).toStrictEqual([]);
    }
  });

  test('offers --json with every command that prints a result', () => {
    const without = commands.filter((command) => !command.options.some(({ long }) => long === '--json'));
    expect(without.map((command) => command.name())).toStrictEqual(['start', 'demo', 'simulate', 'help']);
  });
});

/** Commands that have an action of their own. */
function allCommands(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(allCommands);
}
