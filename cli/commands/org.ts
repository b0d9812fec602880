import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { maxEmbeddingOrigins } from '../../shared/accounts/embedding-origins.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import {
  createOrganization,
  listOrganizations,
  plans,
  setOrganizationOrigins,
  setOrganizationPlan,
} from '../../shared/models/organization.ts';
import type { Organization, Plan } from '../../shared/models/organization.ts';
import { answers } from '../terminal/json-output.ts';
import { unknownOrganization, withContext } from '../installation/context.ts';
import { table } from '../terminal/output.ts';
import { nameValue, originValue, slugValue } from '../terminal/option-parsers.ts';

/** `lectern org …` */
export function addOrganizationCommands(program: Command): void {
  const org = program
    .command('org')
    .description('organizations: the tenants that own lessons and credentials');

  answers(
    org
      .command('create')
      .description('create an organization')
      .requiredOption('--slug <slug>', 'short name, for this command line', slugValue)
      .requiredOption('--name <name>', 'name for people', nameValue)
      .addOption(new Option('--plan <plan>', 'only edtech may export').choices(plans).makeOptionMandatory()),
    ({ slug, name, plan }: { slug: string; name: string; plan: Plan }) =>
      withContext(async ({ db }) => {
        const organization = await createOrganization(db, { slug, name, plan });
        return { json: present(organization), text: `Created ${describe(organization)}` };
      }),
  );

  answers(org.command('list').description('list all organizations'), () =>
    withContext(async ({ db }) => {
      const organizations = await listOrganizations(db);
      const rows = organizations.map(({ slug, name, plan, _id, allowedOrigins }) => {
        return [slug, name, plan, _id, originsText(allowedOrigins)];
      });
      const text =
        rows.length === 0
          ? 'There are no organizations yet. See: lectern org create --help'
          : table(['SLUG', 'NAME', 'PLAN', 'ID', 'ORIGINS'], rows);
      return { json: organizations.map(present), text };
    }),
  );

  answers(
    org
      .command('set-plan')
      .description('change the plan; it takes effect with the next request')
      .argument('<slug>', 'the organization')
      .addArgument(new Argument('<plan>', 'the new plan').choices(plans)),
    (slug: string, plan: Plan) =>
      withContext(async ({ db }) => {
        const organization = await setOrganizationPlan(db, slug, plan);
        if (organization === null) throw unknownOrganization(slug);
        return { json: present(organization), text: `Changed ${describe(organization)}` };
      }),
  );

  answers(
    org
      .command('set-origins')
      .description('say whose pages may show the lessons in a frame; without an origin: any page')
      .argument('<slug>', 'the organization')
      .argument('[origin...]', 'such as https://lms.example', originValue),
    (slug: string, origins: string[] = []) => {
      if (origins.length > maxEmbeddingOrigins) {
        throw new LecternError('BAD_REQUEST', `At most ${maxEmbeddingOrigins} origins can be named.`);
      }
      return withContext(async ({ db }) => {
        const organization = await setOrganizationOrigins(db, slug, origins);
        if (organization === null) throw unknownOrganization(slug);
        const text = `Lessons of ${slug} may be shown in pages of: ${originsText(origins)}`;
        return { json: present(organization), text };
      });
    },
  );
}

function present({ _id, slug, name, plan, allowedOrigins = [] }: Organization) {
  return { id: _id, slug, name, plan, allowedOrigins };
}

function originsText(origins: string[] = []): string {
  return origins.length === 0 ? 'any' : origins.join(' ');
}

function describe({ slug, name, plan }: Organization): string {
  return `organization ${slug} (${name}), plan ${plan}`;
}
