import type { Command } from 'commander';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { createLtiKeys } from '../../shared/lti/keys.ts';
import { areOnOneSite, platformUrlFault } from '../../shared/lti/platform-url.ts';
import {
  changePlatform,
  createPlatform,
  findKeySetOfClient,
  findPlatformsOfIssuer,
  listPlatforms,
  removePlatform,
} from '../../shared/models/lti-platform.ts';
import type { LtiPlatform, PlatformChanges } from '../../shared/models/lti-platform.ts';
import { inviteRegistration } from '../../shared/models/lti-registration.ts';
import { listOrganizations } from '../../shared/models/organization.ts';
import { platformFacingUrl } from '../installation/urls.ts';
import { contextCommand, readingCommand, requireOrganization } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { collectLtiIds, parseLtiId, parseName, parseUuid, parseHttpUrl } from '../terminal/option-parsers.ts';

interface UrlOptions {
  authUrl?: string;
  tokenUrl?: string;
  jwksUrl?: string;
  tokenAudience?: string;
}

interface AddOptions extends Required<Omit<UrlOptions, 'tokenAudience'>> {
  org: string;
  issuer: string;
  clientId: string;
  deploymentId?: string[];
  tokenAudience?: string;
  keySet?: string;
  name?: string;
}

interface ApproveOptions extends UrlOptions {
  deploymentId?: string[];
  anyDeployment?: boolean;
}

interface UpdateOptions extends UrlOptions {
  issuer?: string;
  clientId?: string;
  name?: string;
}

/** `lectern platform …` */
export function addPlatformCommands(platform: Command): void {
  addInvite(platform);
  addAdd(platform);
  addList(platform);
  addApprove(platform);
  addUpdate(platform);
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
      .option('--key-set <id>', "Lectern's key set that the platform has, from `invite`", parseUuid)
      .option('--name <name>', 'display name', parseName),
    async ({ config, db, audit, secrets }, { org, ...options }: AddOptions) => {
      checkUrls(config, options);
      const {
        deploymentId: deploymentIds = [],
        tokenAudience = null,
        name = null,
        keySet,
        ...given
      } = options;
      const { _id: organizationId } = await requireOrganization(db, org);
      const keySetId = keySet ?? (await findKeySetOfClient(db, given));
      const added = await createPlatform(db, {
        organizationId,
        issuer: given.issuer,
        clientId: given.clientId,
        deploymentIds,
        authUrl: given.authUrl,
        tokenUrl: given.tokenUrl,
        jwksUrl: given.jwksUrl,
        tokenAudience,
        ...(keySetId !== null && { keySetId }),
        name,
        status: 'active',
      });
      await createLtiKeys(db, await secrets()).signer(added.keySetId);
      await audit(organizationId, 'platform.add', targetOf(added));
      return {
        json: present(added),
        text: `Added ${describe(added)}\n${await detailsOf({ config, db }, added)}`,
      };
    },
  );
}

/** @throws {LecternError} BAD_REQUEST that names the option. */
function checkUrls({ download }: Config, { authUrl, tokenUrl, jwksUrl }: UrlOptions) {
  const urls = { '--auth-url': authUrl, '--token-url': tokenUrl, '--jwks-url': jwksUrl };
  for (const [option, url] of Object.entries(urls)) {
    const fault = url === undefined ? null : platformUrlFault(url, download.allowedPrivateHosts);
    if (fault !== null) throw new LecternError('BAD_REQUEST', `${option} ${fault}.`);
  }
}

function addInvite(platform: Command): void {
  contextCommand(
    platform
      .command('invite')
      .description('print the URLs for one platform, whether it registers itself or an administrator does')
      .requiredOption('--org <slug>', 'the organization whose lessons it will open'),
    async ({ config, db, audit, secrets }, { org }: { org: string }) => {
      const { _id: organizationId } = await requireOrganization(db, org);
      const { token, keySetId, expiresAt } = await inviteRegistration(db, organizationId);
      await createLtiKeys(db, await secrets()).signer(keySetId);
      await audit(organizationId, 'platform.invite', { target: null });
      const lti = `${await platformFacingUrl(config)}/lti`;
      const url = `${lti}/register/${token}`;
      const keySetUrl = `${lti}/jwks/${keySetId}`;
      const text =
        `URL for one registration, until ${expiresAt.toISOString()} (shown only once):\n  ${url}\n` +
        'Enter it in the platform, then approve its registration: lectern platform list\n' +
        `Without dynamic registration, enter these URLs there, for this platform only:\n` +
        `  login       ${lti}/login\n  launch      ${lti}/launch\n  key set     ${keySetUrl}\n` +
        `Then connect it: lectern platform add --org ${org} --key-set ${keySetId} …`;
      return { json: { url, expiresAt, keySetId, keySetUrl }, text };
    },
  );
}

function addList(platform: Command): void {
  readingCommand(
    platform
      .command('list')
      .description('list the platforms of an organization, or all')
      .option('--org <slug>', 'the organization'),
    async ({ db, config }, { org }: { org?: string }) => {
      const organization = org === undefined ? undefined : await requireOrganization(db, org);
      const platforms = await listPlatforms(db, organization?._id);
      const baseUrl = await platformFacingUrl(config);
      const slugs = new Map((await listOrganizations(db)).map(({ _id, slug }) => [_id, slug]));
      const blocks = await Promise.all(
        platforms.map(async (one) => {
          const { _id, organizationId, status, name } = one;
          const title = [_id, slugs.get(organizationId) ?? '', status, name ?? ''].join('  ').trimEnd();
          return `${title}\n${await detailsOf({ config, db }, one)}`;
        }),
      );
      return {
        json: platforms.map((one) => presentListed(one, baseUrl)),
        text: blocks.join('\n\n') || 'There are no platforms yet. See: lectern platform --help',
      };
    },
  );
}

/** Adds the options that change a platform's URLs. */
function withUrls(command: Command): Command {
  return command
    .option('--auth-url <url>', 'its OIDC authorization endpoint')
    .option('--token-url <url>', 'its token endpoint')
    .option('--jwks-url <url>', 'its key set (JWKS)')
    .option('--token-audience <text>', 'the aud of token requests; "" for its token endpoint');
}

/** Returns the changes that options request. @throws {LecternError} BAD_REQUEST */
function changesOf(config: Config, { tokenAudience, ...options }: UpdateOptions): PlatformChanges {
  checkUrls(config, options);
  const { authUrl, tokenUrl, jwksUrl, issuer, clientId, name } = options;
  return {
    ...Object.fromEntries(
      Object.entries({ authUrl, tokenUrl, jwksUrl, issuer, clientId, name }).filter(
        ([, value]) => value !== undefined,
      ),
    ),
    ...(tokenAudience !== undefined && { tokenAudience: tokenAudience === '' ? null : tokenAudience }),
  };
}

function addApprove(platform: Command): void {
  contextCommand(
    withUrls(
      platform
        .command('approve')
        .description(
          'allow a platform that registered itself to launch lessons, or add deployments to a platform',
        )
        .argument('<id>', 'the platform', parseUuid)
        .option('--deployment-id <id>', 'repeatable: a deployment of Lectern on the platform', collectLtiIds)
        .option('--any-deployment', 'accept all its deployments, also later ones')
        .option('--no-any-deployment', 'accept only the listed deployments again'),
    ),
    async (
      { config, db, audit },
      id: string,
      { deploymentId: deploymentIds = [], anyDeployment, ...options }: ApproveOptions,
    ) => {
      const changes = {
        ...changesOf(config, options),
        ...(anyDeployment !== undefined && { anyDeployment }),
        status: 'active' as const,
      };
      const approved = await changePlatform(db, id, changes, deploymentIds);
      if (approved === null) throw unknownPlatform(id);
      await audit(approved.organizationId, 'platform.approve', targetOf(approved));
      const text = `Approved ${describe(approved)}\n${await detailsOf({ config, db }, approved)}`;
      return { json: present(approved), text };
    },
  );
}

function addUpdate(platform: Command): void {
  contextCommand(
    withUrls(
      platform
        .command('update')
        .description("change a platform's data; its id and its learners' records stay")
        .argument('<id>', 'the platform', parseUuid)
        .option('--issuer <url>', 'its issuer identifier (iss)', parseHttpUrl)
        .option('--client-id <id>', "Lectern's client id on the platform", parseLtiId)
        .option('--name <name>', 'display name', parseName),
    ),
    async ({ config, db, audit }, id: string, options: UpdateOptions) => {
      const updated = await changePlatform(db, id, changesOf(config, options));
      if (updated === null) throw unknownPlatform(id);
      await audit(updated.organizationId, 'platform.update', targetOf(updated));
      const text = `Updated ${describe(updated)}\n${await detailsOf({ config, db }, updated)}`;
      return { json: present(updated), text };
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

function presentListed(platform: LtiPlatform, baseUrl: string) {
  const { organizationId, name, authUrl, tokenUrl, jwksUrl, tokenAudience, createdAt } = platform;
  return {
    ...present(platform),
    anyDeployment: platform.anyDeployment,
    unknownDeployments: platform.unknownDeployments,
    organizationId,
    name,
    authUrl,
    tokenUrl,
    jwksUrl,
    tokenAudience,
    keySetId: platform.keySetId,
    keySetUrl: keySetUrl(platform, baseUrl),
    createdAt,
  };
}

function keySetUrl({ keySetId }: LtiPlatform, baseUrl: string): string {
  return `${baseUrl}/lti/jwks/${keySetId}`;
}

function describe({ _id, issuer, status, deploymentIds, anyDeployment }: LtiPlatform): string {
  const missing =
    anyDeployment || deploymentIds.length > 0
      ? ''
      : `\nIt has no deployment yet. Add the deployment when you know its id: lectern platform approve ${_id} --deployment-id <id>`;
  return `platform ${_id} (${issuer}), ${status}${missing}`;
}

/** Returns what an operator checks before approving a platform, with warnings. */
async function detailsOf(
  { config, db }: Pick<CommandContext, 'config' | 'db'>,
  platform: LtiPlatform,
): Promise<string> {
  const { _id, issuer, clientId, authUrl, tokenUrl, jwksUrl, tokenAudience } = platform;
  const lines = {
    issuer,
    'client id': clientId,
    deployments: platform.anyDeployment ? 'any' : platform.deploymentIds.join(' '),
    login: authUrl,
    tokens: tokenUrl,
    audience: tokenAudience ?? tokenUrl,
    'its keys': jwksUrl,
    'our keys': keySetUrl(platform, await platformFacingUrl(config)),
  };
  const texts = Object.entries(lines).map(([name, value]) => `  ${name.padEnd(12)}${value}`);
  const waiting = platform.unknownDeployments.map(
    (id) =>
      `  rejected launches of deployment ${id}: lectern platform approve ${_id} --deployment-id ${shellWord(id)}`,
  );
  const warnings = (await warningsOf(db, platform)).map((warning) => `  WARNING: ${warning}`);
  return [...texts, ...waiting, ...warnings].join('\n');
}

/** Quotes a platform's text in a command that operators copy. */
function shellWord(text: string): string {
  return /^[\w:.@/][\w:.@/-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

async function warningsOf(db: CommandContext['db'], platform: LtiPlatform): Promise<string[]> {
  const { _id, issuer, clientId, tokenUrl, jwksUrl, tokenAudience, keySetId } = platform;
  const isOneSite = areOnOneSite([tokenUrl, jwksUrl, tokenAudience ?? tokenUrl]);
  const twins = (await findPlatformsOfIssuer(db, issuer, clientId)).filter(
    (other) => other._id !== _id && other.keySetId !== keySetId,
  );
  return [
    ...(isOneSite
      ? []
      : ['tokens, audience and keys are on different sites. Are all of them this platform’s?']),
    ...twins.map((twin) => `platform ${twin._id} has the same issuer and client id. Which one is real?`),
  ];
}

function unknownPlatform(id: string): LecternError {
  return new LecternError('NOT_FOUND', `There is no platform ${id}. See: lectern platform list`);
}
