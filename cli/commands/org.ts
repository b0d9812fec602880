import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { maxEmbeddingOrigins } from '../../shared/accounts/embedding-origins.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import {
  createOrganization,
  listOrganizations,
  plans,
  changeOrganization,
} from '../../shared/models/organization.ts';
import type { Organization, Plan } from '../../shared/models/organization.ts';
import { sumStoredBytes } from '../../shared/models/stored-bytes.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import {
  contextCommand,
  readingCommand,
  requireOrganization,
  unknownOrganization,
  withContext,
} from '../installation/context.ts';
import { addSetRetentionCommand } from './org-retention.ts';
import { addThemeOptions, changeTheme, describeTheme, presentTheme } from '../themes/theme-options.ts';
import type { ThemeOptions } from '../themes/theme-options.ts';
import { table } from '../terminal/output.ts';
import {
  collectOrigins,
  parseByteLimit,
  parseDays,
  parseName,
  parseSlug,
} from '../terminal/option-parsers.ts';

/** `lectern org …` */
export function addOrganizationCommands(org: Command): void {
  contextCommand(
    org
      .command('create')
      .description('create an organization')
      .requiredOption('--slug <slug>', 'short name for commands', parseSlug)
      .requiredOption('--name <name>', 'display name', parseName)
      .addOption(
        new Option('--plan <plan>', 'its plan; only edtech may export').choices(plans).makeOptionMandatory(),
      ),
    async ({ db, audit }, { slug, name, plan }: { slug: string; name: string; plan: Plan }) => {
      const organization = await createOrganization(db, { slug, name, plan });
      await audit(organization._id, 'organization.create', targetOf(organization));
      return { json: present(organization), text: `Created ${describe(organization)}` };
    },
  );

  readingCommand(org.command('list').description('list all organizations'), async ({ db }) => {
    const organizations = await listOrganizations(db);
    const rows = organizations.map(({ slug, name, plan, _id, allowedOrigins }) => {
      return [slug, name, plan, _id, originsText(allowedOrigins)];
    });
    const text =
      rows.length === 0
        ? 'There are no organizations yet. See: lectern org create --help'
        : table(['SLUG', 'NAME', 'PLAN', 'ID', 'ORIGINS'], rows);
    return { json: organizations.map(present), text };
  });

  contextCommand(
    org
      .command('set-plan')
      .description('change the plan, with effect from the next request')
      .argument('<slug>', 'the organization')
      .addArgument(new Argument('<plan>', 'the new plan').choices(plans)),
    async ({ db, audit }, slug: string, plan: Plan) => {
      const organization = await changeOrganization(db, { slug }, { plan });
      if (organization === null) throw unknownOrganization(slug);
      await audit(organization._id, 'organization.set_plan', {
        ...targetOf(organization),
        details: { plan },
      });
      return { json: present(organization), text: `Changed ${describe(organization)}` };
    },
  );

  contextCommand(
    org
      .command('set-external-videos')
      .description('set whether lessons play videos of YouTube and Vimeo, after a click; off shows links')
      .argument('<slug>', 'the organization')
      .addArgument(new Argument('<state>', 'whether they do').choices(['on', 'off'])),
    async ({ db, audit }, slug: string, state: 'on' | 'off') => {
      const organization = await changeOrganization(db, { slug }, { externalVideos: state === 'on' });
      if (organization === null) throw unknownOrganization(slug);
      await audit(organization._id, 'organization.set_external_videos', {
        ...targetOf(organization),
        details: { state },
      });
      return { json: present(organization), text: `External videos of ${slug}: ${state}` };
    },
  );

  addSetThemeCommand(org);
  addSetRetentionCommand(org);
  addSetLimitsCommand(org);

  addSetOriginsCommand(org);
}

function addSetOriginsCommand(org: Command): void {
  withJsonOutput(
    org
      .command('set-origins')
      .description('set the origins whose pages may embed the lessons; without an origin, every page may')
      .argument('<slug>', 'the organization')
      .argument('[origin...]', 'such as https://lms.example', collectOrigins),
    (slug: string, origins: string[] = []) => {
      if (origins.length > maxEmbeddingOrigins) {
        throw new LecternError(
          'BAD_REQUEST',
          `An organization may have at most ${maxEmbeddingOrigins} origins, not ${origins.length}.`,
        );
      }
      return withContext(async ({ db, audit }) => {
        const organization = await changeOrganization(db, { slug }, { allowedOrigins: origins });
        if (organization === null) throw unknownOrganization(slug);
        const details = { origins: origins.join(' ') };
        await audit(organization._id, 'organization.set_origins', { ...targetOf(organization), details });
        const text = `Pages of these origins may embed lessons of ${slug}: ${originsText(origins)}`;
        return { json: present(organization), text };
      });
    },
  );
}

interface Limits {
  /** Null for never. */
  keyDays?: number | null;
  /** 0 for no limit, null for that of the installation. */
  storage?: number | null;
}

/** `lectern org set-limits` */
function addSetLimitsCommand(org: Command): void {
  contextCommand(
    org
      .command('set-limits')
      .description(
        'set the expiry of new keys, and the limit of stored bytes; without an option, show them and the use',
      )
      .argument('<slug>', 'the organization')
      .option('--key-days <days>', 'days after which new keys expire, or never', parseDays)
      .option('--storage <bytes>', 'bytes that it may store, none for no limit, or default', parseByteLimit),
    async ({ db, audit, config }, slug: string, { keyDays, storage }: Limits) => {
      const limits = {
        ...(keyDays !== undefined && { keyDays }),
        ...(storage !== undefined && { maxStoredBytes: storage }),
      };
      const organization = await changeOrganization(db, { slug }, limits);
      if (organization === null) throw unknownOrganization(slug);
      const { _id } = organization;
      if (Object.keys(limits).length > 0)
        await audit(_id, 'organization.set_limits', { ...targetOf(organization), details: limits });
      const storedBytes = await sumStoredBytes(db, _id);
      const maxBytes = organization.maxStoredBytes ?? config.import.maxStoredBytes;
      const days = organization.keyDays;
      const lines = [
        `New keys of ${slug} expire ${days === null ? 'never' : `after ${days} days`}.`,
        `It stores ${storedBytes} bytes of ${maxBytes === 0 ? 'any number' : maxBytes}.`,
      ];
      const { maxStoredBytes } = organization;
      return { json: { id: _id, slug, keyDays: days, maxStoredBytes, storedBytes }, text: lines.join('\n') };
    },
  );
}

/** `lectern org set-theme` */
function addSetThemeCommand(org: Command): void {
  contextCommand(
    addThemeOptions(
      org
        .command('set-theme')
        .description('set the look of the lessons: colors, font, corners, logo; without an option, show it')
        .argument('<slug>', 'the organization'),
    ),
    async (context, slug: string, options: ThemeOptions) => {
      const { _id, name } = await requireOrganization(context.db, slug);
      const theme = await changeTheme(
        context,
        { organizationId: _id, type: 'organization', id: _id, name },
        options,
      );
      const text = [`Lessons of ${slug} have this theme:`, ...describeTheme(theme)].join('\n');
      return { json: { id: _id, slug, theme: presentTheme(theme) }, text };
    },
  );
}

function targetOf({ _id }: Pick<Organization, '_id'>) {
  return { target: { type: 'organization', id: _id } };
}

function present({ _id, slug, name, plan, allowedOrigins, externalVideos }: Organization) {
  return { id: _id, slug, name, plan, allowedOrigins, externalVideos };
}

function originsText(origins: string[] = []): string {
  return origins.length === 0 ? 'any' : origins.join(' ');
}

function describe({ slug, name, plan }: Organization): string {
  return `organization ${slug} (${name}), plan ${plan}`;
}
