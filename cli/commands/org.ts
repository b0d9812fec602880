import { Argument, Command, Option } from 'commander';
import { LecternError } from '../../shared/errors.ts';
import {
  createOrganization,
  listOrganizations,
  plans,
  setOrganizationPlan,
} from '../../shared/models/organization.ts';
import type { Organization, Plan } from '../../shared/models/organization.ts';
import { withContext } from '../context.ts';
import { print, table } from '../output.ts';
import { slugValue } from '../values.ts';

interface JsonOption {
  json?: boolean;
}

/** `lectern org …` */
export function organizationCommands(): Command {
  const org = new Command('org').description('organizations: the tenants that own lessons and credentials');

  org
    .command('create')
    .description('create an organization')
    .requiredOption('--slug <slug>', 'short name, for this command line', slugValue)
    .requiredOption('--name <name>', 'name for people')
    .addOption(new Option('--plan <plan>', 'only edtech may export').choices(plans).makeOptionMandatory())
    .option('--json', 'print one JSON document')
    .action(async (options: { slug: string; name: string; plan: Plan } & JsonOption) => {
      const { slug, name, plan } = options;
      const organization = await withContext(({ db }) => createOrganization(db, { slug, name, plan }));
      print({ json: present(organization), text: `Created ${describe(organization)}` }, options);
    });

  org
    .command('list')
    .description('list all organizations')
    .option('--json', 'print one JSON document')
    .action(async (options: JsonOption) => {
      const organizations = await withContext(({ db }) => listOrganizations(db));
      const rows = organizations.map(({ slug, name, plan, _id }) => [slug, name, plan, _id]);
      print({ json: organizations.map(present), text: table(['SLUG', 'NAME', 'PLAN', 'ID'], rows) }, options);
    });

  org
    .command('set-plan')
    .description('change the plan; it takes effect with the next request')
    .argument('<slug>', 'the organization')
    .addArgument(new Argument('<plan>').choices(plans))
    .option('--json', 'print one JSON document')
    .action(async (slug: string, plan: Plan, options: JsonOption) => {
      const organization = await withContext(({ db }) => setOrganizationPlan(db, slug, plan));
      if (organization === null) throw new LecternError('NOT_FOUND', `There is no organization "${slug}".`);
      print({ json: present(organization), text: describe(organization) }, options);
    });

  return org;
}

function present({ _id, slug, name, plan }: Organization) {
  return { id: _id, slug, name, plan };
}

function describe({ slug, name, plan }: Organization): string {
  return `organization ${slug} (${name}), plan ${plan}`;
}
