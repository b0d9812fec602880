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
import { platformFacingAddress } from '../installation/urls.ts';
import { answers } from '../terminal/json-output.ts';
import { requireOrganization, withContext } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { table } from '../terminal/output.ts';
import {
  ltiIdsValue,
  ltiIdValue,
  nameValue,
  uuidValue,
  webAddressValue,
} from '../terminal/option-parsers.ts';

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
export function addPlatformCommands(program: Command): void {
  const platform = program
    .command('platform')
    .description('learning platforms (LTI 1.3) whose courses open lessons of an organization');
  addAdd(platform);
  addInvite(platform);
  addList(platform);
  addApprove(platform);
  addRemove(platform);
}

function addAdd(platform: Command): void {
  answers(
    platform
      .command('add')
      .description('connect a platform in which Lectern was registered by hand')
      .requiredOption('--org <slug>', 'the organization whose lessons it opens')
      .requiredOption(
        '--issuer <url>',
        'what the platform calls itself, to the letter (iss)',
        webAddressValue,
      )
      .requiredOption('--client-id <id>', 'what it calls Lectern', ltiIdValue)
      .option('--deployment-id <id>', 'a deployment in it; may be repeated', ltiIdsValue)
      .requiredOption('--auth-url <url>', 'where logins go on: its OIDC authorization endpoint')
      .requiredOption('--token-url <url>', 'where access to its services is given: its token endpoint')
      .requiredOption('--jwks-url <url>', 'where its public keys are')
      .option(
        '--token-audience <text>',
        'the aud of token requests; its token endpoint unless told otherwise',
      )
      .option('--name <name>', 'name for people', nameValue),
    ({ org, ...options }: AddOptions) =>
      withContext(async ({ config, db }) => {
        checkAddresses(config, options);
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
        return { json: present(added), text: `Added ${describe(added)}` };
      }),
  );
}

/** @throws {LecternError} BAD_REQUEST that names the option. */
function checkAddresses({ download }: Config, options: Pick<AddOptions, 'authUrl' | 'tokenUrl' | 'jwksUrl'>) {
  const addresses = {
    '--auth-url': options.authUrl,
    '--token-url': options.tokenUrl,
    '--jwks-url': options.jwksUrl,
  };
  for (const [option, address] of Object.entries(addresses)) {
    const fault = platformUrlFault(address, download.allowedPrivateHosts);
    if (fault !== null) throw new LecternError('BAD_REQUEST', `${option} ${fault}.`);
  }
}

function addInvite(platform: Command): void {
  answers(
    platform
      .command('invite')
      .description(
        `print an address at which one platform can register itself, within ${invitationHours} hours`,
      )
      .requiredOption('--org <slug>', 'the organization whose lessons it will open'),
    ({ org }: { org: string }) =>
      withContext(async ({ config, db }) => {
        const { _id: organizationId } = await requireOrganization(db, org);
        const { token, expiresAt } = await inviteRegistration(db, organizationId);
        const url = `${await platformFacingAddress(config)}/lti/register/${token}`;
        const text =
          `Address for one registration, until ${expiresAt.toISOString()} (shown this once):\n  ${url}\n` +
          'Enter it in the platform, then approve what it registered: lectern platform list';
        return { json: { url, expiresAt }, text };
      }),
  );
}

function addList(platform: Command): void {
  answers(
    platform
      .command('list')
      .description('list the platforms of an organization, or all')
      .option('--org <slug>', 'the organization'),
    ({ org }: { org?: string }) =>
      withContext(async ({ db }) => {
        const organization = org === undefined ? undefined : await requireOrganization(db, org);
        const platforms = await listPlatforms(db, organization?._id);
        return { json: platforms.map(presentListed), text: await platformTable(db, platforms) };
      }),
  );
}

function addApprove(platform: Command): void {
  answers(
    platform
      .command('approve')
      .description('let a platform launch lessons that registered itself, or add deployments to one')
      .argument('<id>', 'the platform', uuidValue)
      .option('--deployment-id <id>', 'a deployment in it; may be repeated', ltiIdsValue),
    (id: string, { deploymentId: deploymentIds = [] }: { deploymentId?: string[] }) =>
      withContext(async ({ db }) => {
        const approved = await approvePlatform(db, id, deploymentIds);
        if (approved === null) throw unknownPlatform(id);
        return { json: present(approved), text: `Approved ${describe(approved)}` };
      }),
  );
}

function addRemove(platform: Command): void {
  answers(
    platform
      .command('remove')
      .description('refuse launches of a platform from now on; what its learners did stays')
      .argument('<id>', 'the platform', uuidValue),
    (id: string) =>
      withContext(async ({ db }) => {
        const removed = await removePlatform(db, id);
        if (removed === null) throw unknownPlatform(id);
        return { json: present(removed), text: `Removed platform ${id} (${removed.issuer})` };
      }),
  );
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
      : `\nIt has no deployment yet. Add it as soon as you know it: lectern platform approve ${_id} --deployment-id <id>`;
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
