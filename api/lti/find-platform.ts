import { ltiId } from '../../shared/lti/claims.ts';
import type { Database } from '../../shared/models/database.ts';
import { addUnknownDeployment, findPlatformsOfIssuer } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { LaunchFault } from './faults.ts';

/** How a login identifies its platform. */
export interface PlatformNames {
  issuer: string;
  clientId?: string | undefined;
  deploymentId?: string | undefined;
}

/** The platform data that a login needs. Several registered platforms may have the same. */
export type PlatformOfLogin = Pick<LtiPlatform, '_id' | 'clientId' | 'authUrl'>;

/**
 * Returns the platform to which a login is redirected. If several match and differ in client id or URL, it fails
 * instead of guessing.
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
 * Returns the platform of a launch. Organizations may share a platform and differ in the deployment, which logins need
 * not name. If none has the deployment, any of them can check the signature, and none accepts all deployments unless it is the only one.
 *
 * @param login the platform data of the login.
 * @throws {LaunchFault} unknown_platform, platform_not_approved.
 */
export async function findPlatformOfLaunch(
  db: Database,
  login: Pick<LtiPlatform, 'issuer' | 'clientId' | 'authUrl'>,
  deploymentId: unknown,
): Promise<LtiPlatform> {
  const active = (await findActive(db, login)).filter(({ authUrl }) => authUrl === login.authUrl);
  const id = ltiId.safeParse(deploymentId).data ?? '';
  const found = active.find(({ deploymentIds }) => deploymentIds.includes(id)) ?? active[0];
  if (found === undefined) throw new LaunchFault('unknown_platform', { issuer: login.issuer });
  // Blackboard's schools are one client: a deployment that no school has approved may be of any of them.
  return { ...found, anyDeployment: found.anyDeployment && active.length === 1 };
}

/**
 * Rejects a signed launch of a deployment that no operator has approved, and lists the deployment for approval.
 *
 * @throws {LaunchFault} unknown_deployment.
 */
export async function requireDeployment(
  db: Database,
  platform: LtiPlatform,
  deploymentId: unknown,
): Promise<void> {
  const id = ltiId.safeParse(deploymentId).data;
  if (id !== undefined && (platform.anyDeployment || platform.deploymentIds.includes(id))) return;
  if (id !== undefined) await addUnknownDeployment(db, platform, id);
  throw new LaunchFault('unknown_deployment', { deployment: deploymentId });
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
