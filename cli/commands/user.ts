import { Option } from 'commander';
import type { Command } from 'commander';
import { LecternError } from '../../shared/platform/errors.ts';
import { createUser, disableUser, listUsers, roles, setPassword } from '../../shared/models/user.ts';
import type { Role, User } from '../../shared/models/user.ts';
import { hashPassword } from '../../shared/platform/passwords.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import { contextCommand, readingCommand, requireOrganization, withContext } from '../installation/context.ts';
import { table } from '../terminal/output.ts';
import { readNewPassword } from '../terminal/read-password.ts';
import { parseEmail } from '../terminal/option-parsers.ts';

/** `lectern user …` */
export function addUserCommands(user: Command): void {
  withJsonOutput(
    user
      .command('create')
      .description('create a user; reads the password from stdin')
      .requiredOption('--org <slug>', 'the organization')
      .requiredOption('--email <address>', 'the email address for logins', parseEmail)
      .addOption(new Option('--role <role>', "the user's role").choices(roles).makeOptionMandatory()),
    async ({ org, email, role }: { org: string; email: string; role: Role }) => {
      const password = await readNewPassword();
      return withContext(async ({ db, audit }) => {
        const { _id: organizationId } = await requireOrganization(db, org);
        const passwordHash = await hashPassword(password);
        const created = await createUser(db, { organizationId, email, role, passwordHash });
        await audit(organizationId, 'user.create', targetOf(created));
        return { json: present(created), text: `Created ${role} ${email} in ${org}` };
      });
    },
  );

  readingCommand(
    user
      .command('list')
      .description('list the users of an organization')
      .requiredOption('--org <slug>', 'the organization'),
    async ({ db }, { org }: { org: string }) => {
      const { _id } = await requireOrganization(db, org);
      const users = await listUsers(db, _id);
      return { json: users.map(presentListed), text: userTable(users, org) };
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
        const changed = await setPassword(db, email, await hashPassword(password));
        if (changed === null) throw unknownUser(email);
        await audit(changed.organizationId, 'user.set_password', targetOf(changed));
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
      const disabled = await disableUser(db, email);
      if (disabled === null) throw unknownUser(email);
      await audit(disabled.organizationId, 'user.disable', targetOf(disabled));
      return { json: present(disabled), text: `Disabled ${email}` };
    },
  );
}

function targetOf({ _id: id }: User) {
  return { target: { type: 'user', id } };
}

function present({ _id, email, role }: User) {
  return { id: _id, email, role };
}

function presentListed(user: User) {
  const { createdAt, passwordChangedAt, disabledAt } = user;
  return { ...present(user), createdAt, passwordChangedAt, disabledAt };
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
