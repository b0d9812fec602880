import { z } from 'zod';
import { messageOf } from '../../shared/platform/errors.ts';
import { responseJson } from '../../shared/lti/platform-requests.ts';
import type { PlatformResponse, PlatformClient } from '../../shared/lti/platform-requests.ts';
import { areRelated, platformAddressFault } from '../../shared/lti/platform-url.ts';
import { messageTypes } from '../../shared/lti/claims.ts';
import { RegistrationFault } from './registration-faults.ts';

const lists = z.array(z.string()).optional().catch(undefined);

const platformClaim = 'https://purl.imsglobal.org/spec/lti-platform-configuration';

/** What a platform says of itself (OpenID Connect Discovery, LTI Dynamic Registration 1.0), as far as it is read. */
const configurationSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  registration_endpoint: z.string(),
  /** The `aud` of token requests, where it is not the token endpoint. */
  authorization_server: z.string().min(1).max(1024).optional().catch(undefined),
  scopes_supported: lists,
  [platformClaim]: z
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
  /** Null for the token endpoint's own address. */
  tokenAudience: string | null;
  /** Such as "moodle". */
  product: string | null;
  /** The scopes that may be asked for; null where it does not say. */
  scopes: readonly string[] | null;
  /** Where deep linking can be started from; null where it does not say. */
  placements: readonly string[] | null;
}

/** @throws {RegistrationFault} */
export async function fetchConfiguration(
  client: PlatformClient,
  address: string,
  allowedPrivateHosts: readonly string[],
): Promise<PlatformConfiguration> {
  const check = (name: string, given: string): void => {
    const fault = platformAddressFault(given, allowedPrivateHosts);
    if (fault !== null) throw new RegistrationFault('address_refused', `${name} ${fault}`);
  };
  check('openid_configuration', address);
  const answer = await fetchAnswer(client, address);
  const parsed = configurationSchema.safeParse(responseJson(answer));
  if (!parsed.success) throw new RegistrationFault('configuration_invalid', z.prettifyError(parsed.error));
  const { [platformClaim]: platform, ...given } = parsed.data;
  check('issuer', given.issuer);
  check('authorization_endpoint', given.authorization_endpoint);
  check('token_endpoint', given.token_endpoint);
  check('jwks_uri', given.jwks_uri);
  check('registration_endpoint', given.registration_endpoint);
  if (!areRelated(new URL(given.issuer).hostname, new URL(address).hostname)) {
    throw new RegistrationFault('issuer_mismatch', given.issuer);
  }
  const deepLinking = platform?.messages_supported?.find(({ type }) => type === messageTypes.deepLinking);
  return {
    issuer: given.issuer,
    authUrl: given.authorization_endpoint,
    tokenUrl: given.token_endpoint,
    jwksUrl: given.jwks_uri,
    registrationUrl: given.registration_endpoint,
    tokenAudience: given.authorization_server ?? null,
    product: platform?.product_family_code ?? null,
    scopes: given.scopes_supported ?? null,
    placements: deepLinking?.placements ?? null,
  };
}

async function fetchAnswer(client: PlatformClient, address: string): Promise<PlatformResponse> {
  let answer: PlatformResponse;
  try {
    answer = await client.request(address, { method: 'GET', headers: { Accept: 'application/json' } });
  } catch (error) {
    throw new RegistrationFault('configuration_unavailable', messageOf(error), error);
  }
  if (answer.status === 200) return answer;
  throw new RegistrationFault('configuration_unavailable', `it answered ${answer.status}`);
}
