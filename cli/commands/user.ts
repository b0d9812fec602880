import { Option } from 'commander';
import type { Command } from 'commander';
import { LecternError } from '../../shared/platform/errors.ts';
import { organizationRoles } from '../../shared/accounts/permissions.ts';
import type { OrganizationRole } from '../../shared/accounts/permissions.ts';
import { installationLog } from '../../shared/models/audit-entry.ts';
import type { Database } from '../../shared/models/database.ts';
import { changeUser, createUser, disableTwoStep, listUsers, setPassword } from '../../shared/models/user.ts';
import type { User } from '../../shared/models/user.ts';
import { hashPassword } from '../../shared/platform/passwords.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import { contextCommand, readingCommand, requireOrganization, withContext } from '../installation/context.ts';
import { table } from '../terminal/output.ts';
import { readNewPassword } from '../terminal/read-password.ts';
import { parseEmail } from '../terminal/option-parsers.ts';

/** Whose users a command is about. */
interface OwnerOptions {
  org?: string;
  operator?: boolean;
}

/** `lectern user …` */
export function addUserCommands(user: Command): void {
  withJsonOutput(
    user
      .command('create')
      .description('create a user; reads the password from stdin')
      .option('--org <slug>', 'the organization')
      .addOption(new Option('--role <role>', "the user's role").choices(organizationRoles))
      .option('--operator', 'instead of both: an operator of the installation')
      .requiredOption('--email <address>', 'the email address for logins', parseEmail),
    async ({ email, role, ...where }: OwnerOptions & { email: string; role?: OrganizationRole }) => {
      if ((role === undefined) !== (where.operator === true)) throw unclearOwner('--org and --role');
      assertOwner(where, '--org and --role');
      const password = await readNewPassword();
      return withContext(async ({ db, audit }) => {
        const organizationId = await findOwner(db, where);
        const passwordHash = await hashPassword(password);
        const created = await createUser(db, {
          organizationId,
          email,
          role: role ?? 'operator',
          passwordHash,
        });
        await audit(logOf(created), 'user.create', targetOf(created));
        const text = `Created ${created.role} ${email}${where.org === undefined ? '' : ` in ${where.org}`}`;
        return { json: present(created), text };
      });
    },
  );

  readingCommand(
    user
      .command('list')
      .description('list the users of an organization, or the operators')
      .option('--org <slug>', 'the organization')
      .option('--operator', 'the operators instead'),
    async ({ db }, where: OwnerOptions) => {
      assertOwner(where, '--org');
      const users = await listUsers(db, await findOwner(db, where));
      return { json: users.map(presentListed), text: userTable(users, where.org ?? 'The installation') };
    },
  );

  withJsonOutput(
    user
      .command('set-password')
      .description("set another password, read from stdin, and end the user's sessions")
      .argument('<email>', 'the user', parseEmail),
    async (email: string) => {
      const password = await readNewPassword();
      return withContext(async ({ db, audit }) => {
        const changed = await setPassword(db, { email }, await hashPassword(password));
        if (changed === null) throw unknownUser(email);
        await audit(logOf(changed), 'user.set_password', targetOf(changed));
        return { json: present(changed), text: `Set the password of ${email}` };
      });
    },
  );

  contextCommand(
    user
      .command('disable')
      .description("reject a user's logins from now on, and end the user's sessions")
      .argument('<email>', 'the user', parseEmail),
    async ({ db, audit }, email: string) => {
      const disabled = await changeUser(db, { email }, { isDisabled: true });
      if (disabled === null) throw unknownUser(email);
      await audit(logOf(disabled), 'user.disable', targetOf(disabled));
      return { json: present(disabled), text: `Disabled ${email}` };
    },
  );

  addResetCommand(user);
}

/** `lectern user reset-two-step` */
function addResetCommand(user: Command): void {
  contextCommand(
    user
      .command('reset-two-step')
      .description('turn off two-step login, for a user who has lost the device and the recovery codes')
      .argument('<email>', 'the user', parseEmail),
    async ({ db, audit }, email: string) => {
      const reset = await disableTwoStep(db, { email });
      if (reset === null) throw unknownUser(email);
      await audit(logOf(reset), 'user.disable_two_step', targetOf(reset));
      return { json: present(reset), text: `Turned off two-step login of ${email}` };
    },
  );
}

/** @throws {LecternError} BAD_REQUEST unless the options name an organization or the operators */
function assertOwner({ org, operator = false }: OwnerOptions, names: string): void {
  if ((org === undefined) !== operator) throw unclearOwner(names);
}

function unclearOwner(names: string): LecternError {
  return new LecternError('BAD_REQUEST', `Give ${names}, or --operator.`);
}

/** Returns the id of the organization that the options name; null for operators. */
async function findOwner(db: Database, { org }: OwnerOptions): Promise<string | null> {
  return org === undefined ? null : (await requireOrganization(db, org))._id;
}

function logOf({ organizationId }: User): string {
  return organizationId ?? installationLog;
}

function targetOf({ _id: id }: User) {
  return { target: { type: 'user', id } };
}

function present({ _id, email, role }: User) {
  return { id: _id, email, role };
}

function presentListed(user: User) {
  const { createdAt, sessionsEndedAt, disabledAt } = user;
  return { ...present(user), createdAt, sessionsEndedAt, disabledAt };
}

function userTable(users: User[], slug: string): string {
  if (users.length === 0) return `${slug} has no users yet. See: lectern user create --help`;
  const rows = users.map(({ email, role, disabledAt, createdAt }) => [
    email,
    role,
    disabledAt === null ? 'active' : 'disabled',
    createdAt.toISOString(),
  ]);
  return table(['EMAIL', 'ROLE', 'STATE', 'CREATED'], rows);
}

function unknownUser(email: string): LecternError {
  return new LecternError('NOT_FOUND', `There is no user ${email}. See: lectern user list`);
}
