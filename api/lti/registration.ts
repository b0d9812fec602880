import { z } from 'zod';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError, messageOf } from '../../shared/platform/errors.ts';
import {
  customParameters,
  gradeScopes,
  ltiId,
  messageTypes,
  toolConfiguration,
} from '../../shared/lti/claims.ts';
import { responseJson, PlatformRequestError } from '../../shared/lti/platform-requests.ts';
import type { PlatformResponse, PlatformClient } from '../../shared/lti/platform-requests.ts';
import type { LtiKeys } from '../../shared/lti/keys.ts';
import type { Database } from '../../shared/models/database.ts';
import { createPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import {
  beginRegistration,
  endRegistration,
  releaseRegistration,
} from '../../shared/models/lti-registration.ts';
import type { InvitationFault, LtiRegistration } from '../../shared/models/lti-registration.ts';
import { fetchConfiguration } from './platform-configuration.ts';
import type { PlatformConfiguration } from './platform-configuration.ts';
import { RegistrationFault } from './registration-faults.ts';
import type { RegistrationFaultCode } from './registration-faults.ts';
import { isSuccess } from '../../shared/platform/http/request.ts';

/** The placements where platforms let teachers select lessons; Canvas has its own names, in two spellings. */
const wantedPlacements = [
  'ContentArea',
  ...['assignment_selection', 'link_selection'].flatMap((name) => [
    name,
    `https://canvas.instructure.com/lti/${name}`,
  ]),
];

const wantedScopes: string[] = [gradeScopes.lineItem, gradeScopes.score];

interface Dependencies {
  config: Pick<Config, 'download'>;
  db: Database;
  lti: { client: PlatformClient; keys: LtiKeys };
}

export interface RegistrationRequest {
  /** The token of the invitation. */
  invitation: string;
  configurationUrl: string;
  /** The bearer token for the platform's registration endpoint; null if it needs none. */
  registrationToken: string | null;
  /** Lectern's own URL, without a trailing slash. */
  publicUrl: string;
}

const invitationCodes: Record<InvitationFault, RegistrationFaultCode> = {
  unknown: 'invitation_unknown',
  expired: 'invitation_expired',
  used: 'invitation_used',
  under_way: 'registration_under_way',
};

/**
 * Registers Lectern in a platform, which then waits for an operator's approval. Only a successful registration uses up
 * the invitation. If the process dies meanwhile, the invitation stays locked for two minutes, and the platform may
 * keep an entry that Lectern does not know; the next try adds another one.
 *
 * @throws {RegistrationFault}
 */
export async function registerTool(deps: Dependencies, request: RegistrationRequest): Promise<LtiPlatform> {
  const invitation = await beginRegistration(deps.db, request.invitation);
  if (typeof invitation === 'string') throw new RegistrationFault(invitationCodes[invitation]);
  try {
    const platform = await register(deps, request, invitation);
    await endRegistration(deps.db, invitation, platform._id);
    return platform;
  } catch (error) {
    // If this fails too, the invitation's lock expires.
    await releaseRegistration(deps.db, invitation).catch(() => undefined);
    throw error;
  }
}

async function register(
  { config, db, lti }: Dependencies,
  { configurationUrl, registrationToken, publicUrl }: RegistrationRequest,
  { organizationId, keySetId }: LtiRegistration,
): Promise<LtiPlatform> {
  const { allowedPrivateHosts } = config.download;
  const configuration = await fetchConfiguration(lti.client, configurationUrl, allowedPrivateHosts);
  // Creates the key set: platforms may fetch it during the registration.
  await lti.keys.signer(keySetId);
  const registration = toolRegistration(configuration, publicUrl, keySetId);
  const response = await post(lti.client, configuration.registrationUrl, registrationToken, registration);
  const parsed = responseSchema.safeParse(responseJson(response));
  if (!parsed.success) {
    throw new RegistrationFault('registration_unclear', `it returned ${response.status} without a client_id`);
  }
  const { client_id: clientId, [toolConfiguration]: tool } = parsed.data;
  const { issuer, authUrl, tokenUrl, jwksUrl, tokenAudience, product: name } = configuration;
  const deploymentIds = tool?.deployment_id === undefined ? [] : [tool.deployment_id];
  try {
    return await createPlatform(db, {
      organizationId,
      issuer,
      clientId,
      deploymentIds,
      authUrl,
      tokenUrl,
      jwksUrl,
      tokenAudience,
      keySetId,
      name,
      status: 'pending',
    });
  } catch (error) {
    if (!(error instanceof LecternError) || error.code !== 'CONFLICT') throw error;
    throw new RegistrationFault('already_registered', issuer, error);
  }
}

const responseSchema = z.object({
  client_id: ltiId,
  [toolConfiguration]: z
    .object({ deployment_id: ltiId.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** Posts the registration. @returns a response with a 2xx status. */
async function post(
  client: PlatformClient,
  registrationUrl: string,
  registrationToken: string | null,
  registration: object,
): Promise<PlatformResponse> {
  let response: PlatformResponse;
  try {
    response = await client.request(registrationUrl, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        ...(registrationToken !== null && { Authorization: `Bearer ${registrationToken}` }),
      },
      body: JSON.stringify(registration),
    });
  } catch (error) {
    const isUnsent = error instanceof PlatformRequestError && error.reason === 'blocked_address';
    throw new RegistrationFault(
      isUnsent ? 'address_refused' : 'registration_unclear',
      messageOf(error),
      error,
    );
  }
  const { status, text } = response;
  if (isSuccess(status)) return response;
  // The platform may have registered the tool before a 5xx.
  const code = status >= 500 ? 'registration_unclear' : 'registration_refused';
  throw new RegistrationFault(code, `it returned ${status}: ${text.slice(0, 300)}`);
}

/** Returns Lectern's client metadata (OpenID Connect Dynamic Registration, LTI Dynamic Registration 1.0). */
function toolRegistration({ scopes, placements }: PlatformConfiguration, baseUrl: string, keySetId: string) {
  const launch = `${baseUrl}/lti/launch`;
  const supportedPlacements =
    placements === null ? [] : wantedPlacements.filter((placement) => placements.includes(placement));
  return {
    application_type: 'web',
    response_types: ['id_token'],
    grant_types: ['implicit', 'client_credentials'],
    initiate_login_uri: `${baseUrl}/lti/login`,
    redirect_uris: [launch],
    client_name: 'Lectern',
    jwks_uri: `${baseUrl}/lti/jwks/${keySetId}`,
    token_endpoint_auth_method: 'private_key_jwt',
    scope: wantedScopes.filter((scope) => scopes?.includes(scope) ?? true).join(' '),
    [toolConfiguration]: {
      domain: new URL(baseUrl).host,
      description: 'Lessons, with progress and grades.',
      target_link_uri: launch,
      custom_parameters: {
        [customParameters.resourceLinkHistory]: '$ResourceLink.id.history',
        [customParameters.contextHistory]: '$Context.id.history',
      },
      // Lectern needs no names of users.
      claims: ['iss', 'sub'],
      // Deep linking is first: Canvas keeps the first message of each placement, and gives a message without placements
      // the one where teachers add links to modules.
      messages: [
        {
          type: messageTypes.deepLinking,
          target_link_uri: launch,
          label: 'Lectern',
          ...(supportedPlacements.length > 0 && { placements: supportedPlacements }),
        },
        { type: messageTypes.resourceLink, target_link_uri: launch, label: 'Lectern' },
      ],
    },
  };
}
