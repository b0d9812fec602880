import { randomUUID } from 'node:crypto';
import { loadConfig } from '../shared/platform/config.ts';
import type { Config } from '../shared/platform/config.ts';
import { codeOf, LecternError } from '../shared/platform/errors.ts';
import { customParameters } from '../shared/lti/claims.ts';
import { platformUrlFault } from '../shared/lti/platform-url.ts';
import { createPlatform, findPlatformsOfIssuer, removePlatform } from '../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../shared/models/lti-platform.ts';
import type { Simulate, SimulateOptions } from '../cli/commands/lti.ts';
import { requireOrganization, withContext } from '../cli/installation/context.ts';
import type { CommandContext } from '../cli/installation/context.ts';
import { aborted, listenForInterrupts } from '../cli/terminal/interrupts.ts';
import { print } from '../cli/terminal/output.ts';
import { platformFacingUrl } from '../cli/installation/urls.ts';
import type { Simulator } from './simulator.ts';
import { startSimulator } from './start.ts';

/** The name of the platforms that this command registers, and removes when it ends. */
const platformName = 'LTI simulator';

/** Runs `lectern lti simulate` until Ctrl-C. */
export const simulate: Simulate = (options) =>
  options.org === undefined ? runAlone(options) : runConnected(options, options.org);

async function runAlone({ tool, ...options }: SimulateOptions): Promise<void> {
  const interrupts = listenForInterrupts(loadConfig());
  const simulator = await start(options);
  try {
    const query = tool === undefined ? '' : `tools?${new URLSearchParams({ url: tool }).toString()}`;
    announce(`${simulator.urls.home}${query}`);
    await aborted(interrupts.graceful);
  } finally {
    await simulator.close();
    interrupts.release();
  }
}

function runConnected(options: SimulateOptions, org: string): Promise<void> {
  return withContext(async (context) => {
    const simulator = await start(options);
    try {
      const platform = await connect(context, simulator, org);
      try {
        print(`Connected to ${org} as platform ${platform._id}`);
        announce(simulator.urls.home);
        await aborted(context.signal);
      } finally {
        await removePlatform(context.db, platform._id);
      }
    } finally {
      await simulator.close();
    }
  });
}

/** @throws {LecternError} CONFLICT if the port is in use. */
async function start({ port, attempts, canvas }: SimulateOptions): Promise<Simulator> {
  try {
    return await startSimulator({ port, attempts, canvas });
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new LecternError('CONFLICT', `Port ${port} is in use. Choose another one with --port <number>.`);
  }
}

function announce(url: string): void {
  print(`The LTI platform is ready at ${url}\nPress Ctrl-C to stop.`);
}

/** Registers the simulator and Lectern with each other, after removing what a killed run left behind. */
async function connect(context: CommandContext, simulator: Simulator, org: string): Promise<LtiPlatform> {
  const { config, db } = context;
  const { urls, issuer } = simulator;
  const fault = platformUrlFault(urls.token, config.download.allowedPrivateHosts);
  if (fault !== null) {
    const { host } = new URL(urls.url);
    throw new LecternError(
      'BAD_REQUEST',
      `Put LECTERN_ALLOWED_PRIVATE_HOSTS=${host} into .env and restart Lectern: both read it there.`,
    );
  }
  const { _id: organizationId } = await requireOrganization(db, org);
  for (const { _id, name } of await findPlatformsOfIssuer(db, issuer)) {
    if (name === platformName) await removePlatform(db, _id);
  }
  const keySetId = randomUUID();
  const { clientId, deploymentIds } = await addLectern(simulator, config, keySetId);
  return createPlatform(db, {
    organizationId,
    issuer,
    clientId,
    deploymentIds: [...deploymentIds],
    authUrl: urls.authorization,
    tokenUrl: urls.token,
    jwksUrl: urls.jwks,
    tokenAudience: null,
    keySetId,
    name: platformName,
    status: 'active',
  });
}

async function addLectern(simulator: Simulator, config: Config, keySetId: string) {
  const lectern = `${await platformFacingUrl(config)}/lti`;
  return simulator.addTool({
    name: 'Lectern',
    loginUrl: `${lectern}/login`,
    redirectUris: [`${lectern}/launch`],
    jwksUrl: `${lectern}/jwks/${keySetId}`,
    targetLinkUri: `${lectern}/launch`,
    custom: {
      [customParameters.resourceLinkHistory]: '$ResourceLink.id.history',
      [customParameters.contextHistory]: '$Context.id.history',
    },
  });
}
