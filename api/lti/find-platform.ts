import type { Database } from '../../shared/models/database.ts';
import { findPlatformsOfIssuer } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { LaunchFault } from './faults.ts';

/** What a platform says of itself when it begins a login. */
export interface PlatformNames {
  issuer: string;
  clientId?: string | undefined;
  deploymentId?: string | undefined;
}

/** Where a login goes on: any of the platforms that agree in this. */
export type PlatformOfLogin = Pick<LtiPlatform, '_id' | 'clientId' | 'authUrl'>;

/**
 * Where a login goes on. Of platforms that differ in it none is guessed.
 *
 * @throws {LaunchFault} unknown_platform, platform_not_approved, ambiguous_platform.
 */
export async function findPlatformOfLogin(
  db: Database,
  { issuer, clientId, deploymentId }: PlatformNames,
): Promise<PlatformOfLogin> {
  const active = await findActive(db, { issuer, clientId });
  const ofDeployment = active.filter(({ deploymentIds }) => deploymentIds.includes(deploymentId ?? ''));
  const [first, ...others] = ofDeployment.length > 0 ? ofDeployment : active;
  if (first === undefined) throw new LaunchFault('unknown_platform', { issuer, clientId });
  if (others.some((other) => other.clientId !== first.clientId || other.authUrl !== first.authUrl)) {
    throw new LaunchFault('ambiguous_platform', { issuer, clientId });
  }
  return first;
}

/**
 * The platform of a launch, whose login has said all but the deployment. One that several organizations share is told
 * apart by it; where none has it, any of them does for the signature.
 *
 * @param login where the login went on.
 * @throws {LaunchFault} unknown_platform, platform_not_approved.
 */
export async function findPlatformOfLaunch(
  db: Database,
  login: Pick<LtiPlatform, 'issuer' | 'clientId' | 'authUrl'>,
  deploymentId: unknown,
): Promise<LtiPlatform> {
  const active = (await findActive(db, login)).filter(({ authUrl }) => authUrl === login.authUrl);
  const platform = active.find(({ deploymentIds }) => deploymentIds.some((id) => id === deploymentId));
  const found = platform ?? active[0];
  if (found === undefined) throw new LaunchFault('unknown_platform', { issuer: login.issuer });
  return found;
}

async function findActive(
  db: Database,
  { issuer, clientId }: Pick<PlatformNames, 'issuer' | 'clientId'>,
): Promise<LtiPlatform[]> {
  const all = await findPlatformsOfIssuer(db, issuer, clientId);
  const active = all.filter(({ status }) => status === 'active');
  if (active.length === 0 && all.length > 0) {
    throw new LaunchFault('platform_not_approved', { issuer, clientId, platform: all.map(({ _id }) => _id) });
  }
  return active;
}
