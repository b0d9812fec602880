import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findOrganizationBySlug } from '../../shared/models/organization.ts';
import { findAccount } from '../../shared/models/user.ts';
import { passwordMatches } from '../../shared/platform/passwords.ts';
import { buildUser, quickHash } from '../accounts/users.ts';
import { errorIn, lecternCommand, lecternReading, startCommand, useCommandLine } from './command-line.ts';
import type { Finished } from './command-line.ts';

const { harness, run, json, newOwner } = useCommandLine();

const newEmail = () => `${randomUUID()}@example.com`;

const reading = (stdin: string, ...args: string[]) =>
  lecternReading(harness.environment, stdin, 'user', ...args);

const creation = (owner: string[], email: string, role = 'author') => [
  'create',
  ...owner,
  '--email',
  email,
  '--role',
  role,
];

/** Types lines into a terminal that runs `lectern user`, one for each prompt, and returns everything shown. */
async function inTerminal(lines: string[], ...args: string[]): Promise<Finished> {
  const terminal = `
import os, pty, sys
lines = os.environ['LINES_TYPED'].split('|')
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown = b''
while True:
    try:
        data = os.read(fd, 1024)
    except OSError:
        break
    if not data:
        break
    shown += data
    if data.rstrip().endswith(b':') and lines:
        os.write(fd, lines.pop(0).encode())
_, status = os.waitpid(pid, 0)
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(status))
`;
  const command = ['/usr/bin/env', 'python3', '-c', terminal, ...lecternCommand, 'user', ...args];
  return startCommand(command, { ...harness.environment, LINES_TYPED: lines.join('|') }).finished;
}

const accountOf = (email: string) => findAccount(harness.db, { email });

async function hasPassword(email: string, password: string): Promise<boolean> {
  return passwordMatches(password, (await accountOf(email))?.user.passwordHash ?? null);
}

describe('lectern user create', () => {
  test('reads the password from stdin, without the line break, and never shows it', async () => {
    const email = newEmail();
    const args = ['user', ...creation(await newOwner(), ` ${email.toUpperCase()}`), '--json'];
    const shell = ['/bin/sh', '-c', 'printf %s "$STDIN" | "$@"', 'sh', ...lecternCommand, ...args];
    const environment = { ...harness.environment, STDIN: 'correct horse battery\r\n' };
    const { code, stdout, stderr } = await startCommand(shell, environment).finished;
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toStrictEqual({ id: expect.any(String) as string, email, role: 'author' });
    expect((await accountOf(email))?.user.passwordHash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
    expect(await hasPassword(email, 'correct horse battery')).toBe(true);
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['a password that is too short', 'short\n'],
    ['two lines', 'correct horse\nbattery\n'],
    ['more than any password', 'x'.repeat(100_000)],
  ])('with %s on stdin fails and creates no user', async (_what, stdin) => {
    const email = newEmail();
    const rule = 'A password has 10 to 200 characters, and no control characters.';
    expect(errorIn(await reading(stdin, ...creation(await newOwner(), email)))).toBe(`lectern: ${rule}\n`);
    expect(await accountOf(email)).toBeNull();
  });

  test('fails for an email address that is taken, and for an unknown organization', async () => {
    const { user } = await buildUser(harness, { passwordHash: quickHash });
    const taken = await reading('another password', ...creation(await newOwner(), user.email));
    expect(errorIn(taken)).toBe(`lectern: A user ${user.email} exists.\n`);
    expect((await accountOf(user.email))?.user).toStrictEqual(user);
    const unknown = await reading('correct horse battery', ...creation(['--org', 'unknown'], newEmail()));
    expect(errorIn(unknown)).toBe('lectern: There is no organization "unknown". See: lectern org list\n');
  });

  test('asks twice in a terminal, and does not echo the input', async () => {
    const email = newEmail();
    const typed = ['correct horse battery\r', 'correct horse battery\r'];
    const { code, stdout } = await inTerminal(typed, ...creation(await newOwner(), email, 'admin'));
    expect(code).toBe(0);
    for (const shown of ['Password: ', 'Password again: ', `Created admin ${email}`])
      expect(stdout).toContain(shown);
    expect(stdout).not.toContain('horse');
    expect(await hasPassword(email, 'correct horse battery')).toBe(true);
  });

  test('in a terminal fails when the two passwords differ, and on Ctrl-C', async () => {
    const [email, owner] = [newEmail(), await newOwner()];
    for (const [typed, message] of [
      [['correct horse battery\r', 'correct horse batterz\r'], 'The two passwords differ.'],
      [['correct horse\u0003'], 'No password was given.'],
    ] as const) {
      const { code, stdout } = await inTerminal([...typed], ...creation(owner, email));
      expect(code).toBe(1);
      expect(stdout).toContain(message);
    }
    expect(await accountOf(email)).toBeNull();
  });
});

test('user list shows the users of an organization without hashes', async () => {
  const owner = await newOwner();
  expect((await run('user', 'list', ...owner)).stdout).toBe(
    `${owner[1]} has no users yet. See: lectern user create --help\n`,
  );
  const organization = await findOrganizationBySlug(harness.db, owner[1] ?? '');
  if (organization === null) throw new Error('It has gone');
  const { email } = (await buildUser(harness, { organization, role: 'admin', passwordHash: quickHash })).user;
  const any = expect.any(String) as string;
  expect(await json('user', 'list', ...owner)).toStrictEqual([
    { id: any, email, role: 'admin', createdAt: any, sessionsEndedAt: any, disabledAt: null },
  ]);
  const { stdout } = await run('user', 'list', ...owner);
  expect(stdout).toMatch(/^EMAIL +ROLE +STATE +CREATED\n/);
  expect(stdout).toMatch(new RegExp(`^${email} +admin +active +20`, 'm'));
});

test('operators belong to no organization', async () => {
  const email = newEmail();
  const args = ['create', '--operator', '--email', email];
  expect(await reading('correct horse battery\n', ...args)).toMatchObject({
    code: 0,
    stdout: `Created operator ${email}\n`,
  });
  expect(await accountOf(email)).toMatchObject({
    user: { role: 'operator', organizationId: null },
    organization: null,
  });
  expect((await run('user', 'list', '--operator')).stdout).toContain(`${email}  operator  active`);
  const owner = await newOwner();
  for (const more of [owner, ['--role', 'admin'], [...owner, '--role', 'admin']])
    expect(errorIn(await reading('correct horse battery', ...args, ...more))).toBe(
      'lectern: Give --org and --role, or --operator.\n',
    );
});

test('user set-password sets another password, and user disable locks the user out', async () => {
  const { email } = (await buildUser(harness, { passwordHash: quickHash })).user;
  const set = await reading('another password\n', 'set-password', email);
  expect(set).toMatchObject({ code: 0, stdout: `Set the password of ${email}\n`, stderr: '' });
  expect(await hasPassword(email, 'another password')).toBe(true);

  const disabled = await json('user', 'disable', email.toUpperCase());
  expect(disabled).toStrictEqual({ id: expect.any(String) as string, email, role: 'author' });
  expect((await accountOf(email))?.user.disabledAt).toBeInstanceOf(Date);

  for (const command of ['set-password', 'disable']) {
    expect(errorIn(await reading('another password', command, 'unknown@example.com'))).toBe(
      'lectern: There is no user unknown@example.com. See: lectern user list\n',
    );
  }
});
