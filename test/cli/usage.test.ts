import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { lectern, lecternHere } from './command-line.ts';

/** A command that gets as far as connecting fails with 1, not with 2. */
const noServers = { MONGODB_URI: 'mongodb://127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' };
const uuid = '11111111-1111-4111-8111-111111111111';

/** Commands that have an action of their own. */
function allCommands(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(allCommands);
}

test.each([
  ['', 'nonsense', "unknown command 'nonsense'"],
  ['org list', '--nonsense', "unknown option '--nonsense'"],
  ['org create', '--slug a --name A', "required option '--plan <plan>' not specified"],
  ['org set-plan', 'a', "missing required argument 'plan'"],
  ['org create', '--slug a --name A --plan gold', 'Allowed choices are'],
  ['org create', '--slug a --name ', '1 to 200'],
  ['lesson publish', '1', 'must be a UUID'],
  ['lesson check', 'x.zip --version 1', '--version requires a lesson id'],
  ['lesson check', `${uuid} --version 0`, 'whole number'],
  ['key create', '--expires 2020-01-01T00:00:00Z', 'in the future'],
  ['key create', '--scopes read,write', 'one or more of read, content'],
  ['key create', '--expires soon', 'a date and time'],
  ['key revoke', 'secret', 'begins with lkp_'],
  ['user create', '--org a --email ada', 'must be an email address'],
  ['user create', '--org a --role owner', 'Allowed choices are'],
  ['lesson import', 'x --org a --force', '--force requires --publish'],
  ['lesson import', '--media-base-url ftp://a', 'http'],
  ['token sign', `--lesson ${uuid}`, "'--learner <id>' not specified"],
  ['token sign', `--lesson ${uuid} --learner a\nb`, 'no control characters'],
  ['token sign', '--attributes {', 'must be JSON'],
  ['token revoke', '--learner ann', 'select tokens with --org or --lesson'],
  ['lti resend', '', 'select scores'],
  ['lti resend', `${uuid} --org a`, 'require --failed'],
  ['lti scores', '--limit 1001', 'between 1 and 1000'],
  ['widget register', '--type Image', "Lectern's own"],
])('`lectern %s %s` is a usage error: %s', async (name, args, fault) => {
  const program = await createProgram();
  let printed = '';
  for (const each of [program, ...program.commands, ...allCommands(program)])
    each.configureOutput({ writeErr: (text) => (printed += text) });
  const words = [...name.split(' '), ...args.split(' '), '--json'];
  const parsing = program.parseAsync(args === '' || name === '' ? words.filter(Boolean) : words, {
    from: 'user',
  });
  await expect(parsing).rejects.toThrow(CommanderError);
  expect(printed).toMatch(/^lectern: /);
  expect(printed).toContain(fault);
  expect(printed.trimEnd().split('\n').at(-1)).toBe(`See: ${`lectern ${name}`.trim()} --help`);
});

describe('the exit code', () => {
  const wrong = ['org create --json', 'nonsense', '', 'org'];
  test.each(wrong)('is 2 for `lectern %s`, and stdout stays empty', async (args) => {
    const { code, stdout, stderr } = await lecternHere(noServers, ...args.split(' ').filter(Boolean));
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^lectern: |^Usage: lectern( org)? /);
  });

  const wanted = ['--help', 'help', 'help org', 'help lesson import', '--version'];
  test.each(wanted)('is 0 for `lectern %s`, which is a result', async (args) => {
    const { code, stdout, stderr } = await lecternHere(noServers, ...args.split(' '));
    expect(stdout).toMatch(/^(Usage: lectern|\d+\.\d+\.\d+)/);
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
  });

  test("is the process's", async () => {
    expect(await lectern(noServers, 'org')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('the help', async () => {
  const commands = allCommands(await createProgram());

  test('describes every command, argument and option', () => {
    for (const command of commands) {
      expect(command.description()).not.toBe('');
      for (const { description } of [...command.options, ...command.registeredArguments])
        expect(description).not.toBe('');
    }
  });

  test('offers --json with every command that prints a result', () => {
    const without = commands.filter((command) => !command.options.some(({ long }) => long === '--json'));
    expect(without.map((command) => command.name())).toStrictEqual(['start', 'demo', 'simulate', 'help']);
  });
});
