import { z } from 'zod';
import { ltiId } from '../../shared/lti/claims.ts';
import { platformUrlFault } from '../../shared/lti/platform-url.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';

/* What requests about learning platforms and their grades may contain. */

const text = (name: string, maximum: number) =>
  z
    .string(`${name} is required`)
    .trim()
    .min(1, `${name} is required`)
    .max(maximum, `${name} must be at most ${maximum} characters`);
const url = (name: string) => text(name, 4096);
const name = text('name', 200);
const deploymentFault = 'A deployment id has 1 to 255 printable ASCII characters';
const deployments = z
  .array(
    z.string(deploymentFault).refine((id) => ltiId.safeParse(id).success, deploymentFault),
    deploymentFault,
  )
  .max(100, 'At most 100 deployments can be named at once');
const tokenAudience = text('tokenAudience', 4096)
  .nullable()
  .meta({ description: 'The `aud` of token requests; null for the token endpoint.' });

export const newPlatformSchema = z.strictObject(
  {
    name: name.nullable().default(null),
    issuer: url('issuer').meta({ description: 'The `iss` of its messages, exactly as it sends it.' }),
    clientId: text('clientId', 255).meta({ description: 'The client id that it gave to Lectern.' }),
    deploymentIds: deployments.default([]),
    authUrl: url('authUrl').meta({ description: 'Its OIDC authorization endpoint.' }),
    tokenUrl: url('tokenUrl').meta({ description: 'Its token endpoint.' }),
    jwksUrl: url('jwksUrl').meta({ description: 'Its key set (JWKS).' }),
    tokenAudience: tokenAudience.default(null),
    keySetId: z
      .guid('keySetId must be a UUID')
      .toLowerCase()
      .optional()
      .meta({ description: 'The key set that it has, of an open registration.' }),
  },
  { error: objectFault },
);

export const platformChangesSchema = z.strictObject(
  {
    name: name.nullable().optional(),
    status: z
      .literal('active', 'status must be active')
      .optional()
      .meta({ description: 'Approves a platform that registered itself.' }),
    addDeploymentIds: deployments.optional(),
    anyDeployment: z.boolean('anyDeployment must be true or false').optional(),
    authUrl: url('authUrl').optional(),
    tokenUrl: url('tokenUrl').optional(),
    jwksUrl: url('jwksUrl').optional(),
    tokenAudience: tokenAudience.optional(),
  },
  { error: objectFault },
);

export const platformParams = z.object({
  platformId: z.guid('Invalid platform ID format').toLowerCase().meta({ description: 'Id of the platform.' }),
});

export const urlFault = 'jwksUrl must be an https URL (LECTERN_ALLOWED_PRIVATE_HOSTS can allow http)';

/** @throws {LecternError} INVALID_CONTENT */
export function assertPlatformUrls(
  given: { authUrl?: string; tokenUrl?: string; jwksUrl?: string },
  { download }: Pick<Config, 'download'>,
): void {
  const { authUrl, tokenUrl, jwksUrl } = given;
  for (const [field, value] of Object.entries({ authUrl, tokenUrl, jwksUrl })) {
    const fault = value === undefined ? null : platformUrlFault(value, download.allowedPrivateHosts);
    if (fault !== null) throw new LecternError('INVALID_CONTENT', `${field} ${fault}`);
  }
}

const maxIds = 1000;
const idsFault = `ids must be a list of 1 to ${maxIds} ids of grades`;
const oneOfFault = 'Name the grades by ids, or failed ones with failed: true';
export const gradeChangeSchema = z
  .strictObject(
    {
      ids: z
        .array(z.guid(idsFault).toLowerCase(), idsFault)
        .min(1, idsFault)
        .max(maxIds, idsFault)
        .optional(),
      failed: z
        .literal(true, 'failed must be true')
        .optional()
        .meta({ description: 'All failed grades; at most 10,000 with one request.' }),
      platformId: z
        .guid('Invalid platform ID format')
        .toLowerCase()
        .optional()
        .meta({ description: 'With `failed`: of this platform only.' }),
    },
    { error: objectFault },
  )
  .refine(
    ({ ids, failed, platformId }) =>
      (ids === undefined) === (failed === true) && (ids === undefined || platformId === undefined),
    oneOfFault,
  );
export const gradeChangeFaults = [oneOfFault];
