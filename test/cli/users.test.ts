import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAccount } from '../../shared/models/user.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { passwordMatches } from '../../shared/platform/passwords.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { lectern, lecternCommand, lecternHere, lecternJson, startCommand } from './command-line.ts';
import type { Finished } from './command-line.ts';

let harness: Harness;
let organization: Organization;
beforeAll(async () => {
  harness = await startHarness();
  ({ organization } = await buildOrganization(harness));
});
afterAll(() => harness.close());

const freshEmail = () => `${randomUUID()}@example.com`;

/** Runs `lectern` with this text on stdin. */
function lecternReading(stdin: string, ...args: string[]): Promise<Finished> {
  const shell = ['/bin/sh', '-c', 'printf %s "$STDIN" | "$@"', 'sh', ...lecternCommand, ...args];
  return startCommand(shell, { ...harness.environment, STDIN: stdin }).finished;
}

const create = (email: string, stdin: string, ...more: string[]) =>
  lecternReading(
    stdin,
    'user',
    'create',
    '--org',
    organization.slug,
    '--email',
    email,
    '--role',
    'author',
    ...more,
  );

/**
 * Types lines into a terminal that runs `lectern`, one for each prompt, and returns everything
 * shown.
 */
async function lecternInTerminal(lines: string[], ...args: string[]): Promise<Finished> {
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
  const command = ['/usr/bin/env', 'python3', '-c', terminal, ...lecternCommand, ...args];
  return startCommand(command, { ...harness.environment, LINES_TYPED: lines.join('|') }).finished;
}

async function hasPassword(email: string, password: string): Promise<boolean> {
  const account = await findAccount(harness.db, { email });
  return passwordMatches(password, account?.user.passwordHash ?? null);
}

describe('lectern user create', () => {
  test('takes the password from stdin, without the line break, and never shows it', async () => {
    const email = freshEmail();
    const { code, stdout, stderr } = await create(
      ` ${email.toUpperCase()}`,
      'correct horse battery\r\n',
      '--json',
    );
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toStrictEqual({ id: expect.any(String) as string, email, role: 'author' });
    expect(await hasPassword(email, 'correct horse battery')).toBe(true);
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['a password that is too short', 'short\n'],
    ['two lines', 'correct horse\nbattery\n'],
    ['more than any password', 'x'.repeat(100_000)],
  ])('with %s on stdin fails and creates no user', async (_what, stdin) => {
    const email = freshEmail();
    expect(await create(email, stdin)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'lectern: A password has 10 to 200 characters, and no control characters.\n',
    });
    expect(await findAccount(harness.db, { email })).toBeNull();
  });

  test('fails for an email address that is taken, and for an unknown organization', async () => {
    const email = freshEmail();
    expect((await create(email, 'correct horse battery')).code).toBe(0);
    expect(await create(email, 'another password')).toMatchObject({
      code: 1,
      stderr: `lectern: A user ${email} exists.\n`,
    });
    expect(await hasPassword(email, 'correct horse battery')).toBe(true);
    const elsewhere = ['user', 'create', '--org', 'nobody', '--email', freshEmail(), '--role', 'admin'];
    expect(await lecternReading('correct horse battery', ...elsewhere)).toMatchObject({
      code: 1,
      stderr: 'lectern: There is no organization "nobody". See: lectern org list\n',
    });
  });

  test('has exit code 2 with an invalid role or email address', async () => {
    const args = ['user', 'create', '--org', organization.slug];
    const role = await lecternHere(harness.environment, ...args, '--email', freshEmail(), '--role', 'owner');
    expect(role).toMatchObject({ code: 2, stdout: '' });
    const email = await lectern(harness.environment, ...args, '--email', 'ada', '--role', 'admin');
    expect(email.code).toBe(2);
    expect(email.stderr).toContain('It must be an e-mail address.');
  });

  test('asks twice in a terminal, and does not echo the input', async () => {
    const email = freshEmail();
    const args = ['user', 'create', '--org', organization.slug, '--email', email, '--role', 'admin'];
    const { code, stdout } = await lecternInTerminal(
      ['correct horse battery\r', 'correct horse battery\r'],
      ...args,
    );
    expect(code).toBe(0);
    expect(stdout).toContain('Password: ');
    expect(stdout).toContain('Password again: ');
    expect(stdout).toContain(`Created admin ${email}`);
    expect(stdout).not.toContain('horse');
    expect(await hasPassword(email, 'correct horse battery')).toBe(true);
  });

  test('in a terminal fails when the two passwords differ, and on Ctrl-C', async () => {
    const email = freshEmail();
    const args = ['user', 'create', '--org', organization.slug, '--email', email, '--role', 'admin'];
    const differ = await lecternInTerminal(['correct horse battery\r', 'correct horse batterz\r'], ...args);
    expect(differ.code).toBe(1);
    expect(differ.stdout).toContain('The two passwords differ.');
    const interrupted = await lecternInTerminal(['correct horse\u0003'], ...args);
    expect(interrupted.code).toBe(1);
    expect(interrupted.stdout).toContain('No password was given.');
    expect(await findAccount(harness.db, { email })).toBeNull();
  });
});

test('user list shows the users of an organization without hashes', async () => {
  const { organization: own } = await buildOrganization(harness);
  expect((await lecternHere(harness.environment, 'user', 'list', '--org', own.slug)).stdout).toBe(
    `${own.slug} has no users yet. See: lectern user create --help\n`,
  );
  const email = freshEmail();
  const args = ['user', 'create', '--org', own.slug, '--email', email, '--role', 'admin'];
  expect((await lecternReading('correct horse battery', ...args)).code).toBe(0);
  const time = expect.any(String) as string;
  expect(await lecternJson(harness.environment, 'user', 'list', '--org', own.slug)).toStrictEqual([
    { id: time, email, role: 'admin', createdAt: time, passwordChangedAt: time, disabledAt: null },
  ]);
  const { stdout } = await lectern(harness.environment, 'user', 'list', '--org', own.slug);
  expect(stdout).toMatch(/^EMAIL +ROLE +STATE +CREATED\n/);
  expect(stdout).toMatch(new RegExp(`^${email} +admin +active +20`, 'm'));
});

test('user set-password sets another password, and user disable locks the user out', async () => {
  const email = freshEmail();
  await create(email, 'correct horse battery');
  const set = await lecternReading('another password\n', 'user', 'set-password', email);
  expect(set).toMatchObject({ code: 0, stdout: `Set the password of ${email}\n`, stderr: '' });
  expect(await hasPassword(email, 'another password')).toBe(true);
  expect(await hasPassword(email, 'correct horse battery')).toBe(false);

  const disabled = await lecternJson(harness.environment, 'user', 'disable', email.toUpperCase());
  expect(disabled).toStrictEqual({ id: expect.any(String) as string, email, role: 'author' });
  expect((await findAccount(harness.db, { email }))?.user.disabledAt).toBeInstanceOf(Date);

  const unknown = `There is no user nobody@example.com. See: lectern user list`;
  for (const args of [['set-password'], ['disable']]) {
    const failed = await lecternReading('another password', 'user', ...args, 'nobody@example.com');
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: `lectern: ${unknown}\n` });
  }
});
