import type { Command } from 'commander';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { platformUrlFault } from '../../shared/lti/platform-url.ts';
import {
  approvePlatform,
  createPlatform,
  listPlatforms,
  removePlatform,
} from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { invitationHours, inviteRegistration } from '../../shared/models/lti-registration.ts';
import { listOrganizations } from '../../shared/models/organization.ts';
import { platformFacingUrl } from '../installation/urls.ts';
import { contextCommand, readingCommand, requireOrganization } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { table } from '../terminal/output.ts';
import { collectLtiIds, parseLtiId, parseName, parseUuid, parseHttpUrl } from '../terminal/option-parsers.ts';

interface AddOptions {
  org: string;
  issuer: string;
  clientId: string;
  deploymentId?: string[];
  authUrl: string;
  tokenUrl: string;
  jwksUrl: string;
  tokenAudience?: string;
  name?: string;
}

/** `lectern platform …` */
export function addPlatformCommands(platform: Command): void {
  addAdd(platform);
  addInvite(platform);
  addList(platform);
  addApprove(platform);
  addRemove(platform);
}

function addAdd(platform: Command): void {
  contextCommand(
    platform
      .command('add')
      .description('connect a platform where an administrator registered Lectern by hand')
      .requiredOption('--org <slug>', 'the organization whose lessons it opens')
      .requiredOption(
        '--issuer <url>',
        "the platform's issuer identifier (iss), exactly as it sends it",
        parseHttpUrl,
      )
      .requiredOption('--client-id <id>', "Lectern's client id on the platform", parseLtiId)
      .option('--deployment-id <id>', 'repeatable: a deployment of Lectern on the platform', collectLtiIds)
      .requiredOption('--auth-url <url>', 'its OIDC authorization endpoint')
      .requiredOption('--token-url <url>', 'its token endpoint')
      .requiredOption('--jwks-url <url>', 'its key set (JWKS)')
      .option('--token-audience <text>', 'the aud of token requests; by default its token endpoint')
      .option('--name <name>', 'display name', parseName),
    async ({ config, db, audit }, { org, ...options }: AddOptions) => {
      checkUrls(config, options);
      const { deploymentId: deploymentIds = [], tokenAudience = null, name = null, ...given } = options;
      const { _id: organizationId } = await requireOrganization(db, org);
      const added = await createPlatform(db, {
        organizationId,
        issuer: given.issuer,
        clientId: given.clientId,
        deploymentIds,
        authUrl: given.authUrl,
        tokenUrl: given.tokenUrl,
        jwksUrl: given.jwksUrl,
        tokenAudience,
        name,
        status: 'active',
      });
      await audit(organizationId, 'platform.add', targetOf(added));
      return { json: present(added), text: `Added ${describe(added)}` };
    },
  );
}

/** @throws {LecternError} BAD_REQUEST that names the option. */
function checkUrls({ download }: Config, options: Pick<AddOptions, 'authUrl' | 'tokenUrl' | 'jwksUrl'>) {
  const urls = {
    '--auth-url': options.authUrl,
    '--token-url': options.tokenUrl,
    '--jwks-url': options.jwksUrl,
  };
  for (const [option, url] of Object.entries(urls)) {
    const fault = platformUrlFault(url, download.allowedPrivateHosts);
    if (fault !== null) throw new LecternError('BAD_REQUEST', `${option} ${fault}.`);
  }
}

function addInvite(platform: Command): void {
  contextCommand(
    platform
      .command('invite')
      .description(`print a URL that lets one platform register itself within ${invitationHours} hours`)
      .requiredOption('--org <slug>', 'the organization whose lessons it will open'),
    async ({ config, db, audit }, { org }: { org: string }) => {
      const { _id: organizationId } = await requireOrganization(db, org);
      const { token, expiresAt } = await inviteRegistration(db, organizationId);
      await audit(organizationId, 'platform.invite', { target: null });
      const url = `${await platformFacingUrl(config)}/lti/register/${token}`;
      const text =
        `URL for one registration, until ${expiresAt.toISOString()} (shown only once):\n  ${url}\n` +
        'Enter it in the platform, then approve its registration: lectern platform list';
      return { json: { url, expiresAt }, text };
    },
  );
}

function addList(platform: Command): void {
  readingCommand(
    platform
      .command('list')
      .description('list the platforms of an organization, or all')
      .option('--org <slug>', 'the organization'),
    async ({ db }, { org }: { org?: string }) => {
      const organization = org === undefined ? undefined : await requireOrganization(db, org);
      const platforms = await listPlatforms(db, organization?._id);
      return { json: platforms.map(presentListed), text: await platformTable(db, platforms) };
    },
  );
}

function addApprove(platform: Command): void {
  contextCommand(
    platform
      .command('approve')
      .description(
        'allow a platform that registered itself to launch lessons, or add deployments to a platform',
      )
      .argument('<id>', 'the platform', parseUuid)
      .option('--deployment-id <id>', 'repeatable: a deployment of Lectern on the platform', collectLtiIds),
    async ({ db, audit }, id: string, { deploymentId: deploymentIds = [] }: { deploymentId?: string[] }) => {
      const approved = await approvePlatform(db, id, deploymentIds);
      if (approved === null) throw unknownPlatform(id);
      await audit(approved.organizationId, 'platform.approve', targetOf(approved));
      return { json: present(approved), text: `Approved ${describe(approved)}` };
    },
  );
}

function addRemove(platform: Command): void {
  contextCommand(
    platform
      .command('remove')
      .description("reject a platform's launches from now on; keep its learners' progress")
      .argument('<id>', 'the platform', parseUuid),
    async ({ db, audit }, id: string) => {
      const removed = await removePlatform(db, id);
      if (removed === null) throw unknownPlatform(id);
      await audit(removed.organizationId, 'platform.remove', targetOf(removed));
      return { json: present(removed), text: `Removed platform ${id} (${removed.issuer})` };
    },
  );
}

function targetOf({ _id: id }: LtiPlatform) {
  return { target: { type: 'platform', id } };
}

function present({ _id, issuer, clientId, deploymentIds, status }: LtiPlatform) {
  return { id: _id, issuer, clientId, deploymentIds, status };
}

function presentListed(platform: LtiPlatform) {
  const { organizationId, name, authUrl, tokenUrl, jwksUrl, tokenAudience, createdAt } = platform;
  return {
    ...present(platform),
    organizationId,
    name,
    authUrl,
    tokenUrl,
    jwksUrl,
    tokenAudience,
    createdAt,
  };
}

function describe({ _id, issuer, status, deploymentIds }: LtiPlatform): string {
  const missing =
    deploymentIds.length > 0
      ? ''
      : `\nIt has no deployment yet. Add the deployment when you know its id: lectern platform approve ${_id} --deployment-id <id>`;
  return `platform ${_id} (${issuer}), ${status}${missing}`;
}

async function platformTable(db: CommandContext['db'], platforms: LtiPlatform[]): Promise<string> {
  if (platforms.length === 0) return 'There are no platforms yet. See: lectern platform --help';
  const slugs = new Map((await listOrganizations(db)).map(({ _id, slug }) => [_id, slug]));
  const rows = platforms.map((platform) => [
    platform._id,
    slugs.get(platform.organizationId) ?? '',
    platform.status,
    platform.issuer,
    platform.clientId,
    platform.deploymentIds.join(' '),
    new URL(platform.jwksUrl).host,
    platform.name ?? '',
  ]);
  return table(['ID', 'ORG', 'STATE', 'ISSUER', 'CLIENT ID', 'DEPLOYMENTS', 'KEYS AT', 'NAME'], rows);
}

function unknownPlatform(id: string): LecternError {
  return new LecternError('NOT_FOUND', `There is no platform ${id}. See: lectern platform list`);
}
