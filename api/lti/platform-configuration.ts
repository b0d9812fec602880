import { z } from 'zod';
import { messageOf } from '../../shared/platform/errors.ts';
import { responseJson } from '../../shared/lti/platform-requests.ts';
import type { PlatformResponse, PlatformClient } from '../../shared/lti/platform-requests.ts';
import { areOnOneSite, areRelated, platformUrlFault } from '../../shared/lti/platform-url.ts';
import { messageTypes, platformConfiguration } from '../../shared/lti/claims.ts';
import { RegistrationFault } from './registration-faults.ts';

const lists = z.array(z.string()).optional().catch(undefined);

/** The fields that Lectern reads from a platform (OpenID Connect Discovery, LTI Dynamic Registration 1.0). */
const configurationSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  registration_endpoint: z.string(),
  /** The `aud` of token requests (Brightspace). Canvas names a host here, and means its token endpoint. */
  authorization_server: z
    .url({ protocol: /^https?$/ })
    .max(1024)
    .optional()
    .catch(undefined),
  scopes_supported: lists,
  [platformConfiguration]: z
    .object({
      product_family_code: z.string().min(1).max(100).optional().catch(undefined),
      messages_supported: z
        .array(z.object({ type: z.string(), placements: lists }))
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
});

export interface PlatformConfiguration {
  issuer: string;
  authUrl: string;
  tokenUrl: string;
  jwksUrl: string;
  registrationUrl: string;
  /** Null for the token endpoint's URL, also if the platform names an audience on another site. */
  tokenAudience: string | null;
  /** Such as "moodle". */
  product: string | null;
  /** The supported scopes; null if unknown. */
  scopes: readonly string[] | null;
  /** The supported placements of deep linking; null if unknown. */
  placements: readonly string[] | null;
}

/** @throws {RegistrationFault} */
export async function fetchConfiguration(
  client: PlatformClient,
  configurationUrl: string,
  allowedPrivateHosts: readonly string[],
): Promise<PlatformConfiguration> {
  const check = (name: string, url: string): void => {
    const fault = platformUrlFault(url, allowedPrivateHosts);
    if (fault !== null) throw new RegistrationFault('address_refused', `${name} ${fault}`);
  };
  check('openid_configuration', configurationUrl);
  const response = await get(client, configurationUrl);
  const parsed = configurationSchema.safeParse(responseJson(response));
  if (!parsed.success) throw new RegistrationFault('configuration_invalid', z.prettifyError(parsed.error));
  const { [platformConfiguration]: platform, ...given } = parsed.data;
  check('issuer', given.issuer);
  check('authorization_endpoint', given.authorization_endpoint);
  check('token_endpoint', given.token_endpoint);
  check('jwks_uri', given.jwks_uri);
  check('registration_endpoint', given.registration_endpoint);
  if (!areRelated(new URL(given.issuer).hostname, new URL(configurationUrl).hostname)) {
    throw new RegistrationFault('issuer_mismatch', given.issuer);
  }
  const deepLinking = platform?.messages_supported?.find(({ type }) => type === messageTypes.deepLinking);
  return {
    issuer: given.issuer,
    authUrl: given.authorization_endpoint,
    tokenUrl: given.token_endpoint,
    jwksUrl: given.jwks_uri,
    registrationUrl: given.registration_endpoint,
    tokenAudience: audienceOf(given),
    product: platform?.product_family_code ?? null,
    scopes: given.scopes_supported ?? null,
    placements: deepLinking?.placements ?? null,
  };
}

/**
 * Returns the audience that a platform names if it is on the site that receives the assertions. Any other audience would
 * let a platform collect assertions for someone else; only the operator may set one.
 */
function audienceOf({
  authorization_server: audience,
  token_endpoint: tokenUrl,
}: z.output<typeof configurationSchema>): string | null {
  return audience !== undefined && areOnOneSite([audience, tokenUrl]) ? audience : null;
}

async function get(client: PlatformClient, url: string): Promise<PlatformResponse> {
  let response: PlatformResponse;
  try {
    response = await client.request(url, { method: 'GET', headers: { Accept: 'application/json' } });
  } catch (error) {
    throw new RegistrationFault('configuration_unavailable', messageOf(error), error);
  }
  if (response.status === 200) return response;
  throw new RegistrationFault('configuration_unavailable', `it returned ${response.status}`);
}
