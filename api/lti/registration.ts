import { z } from 'zod';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError, messageOf } from '../../shared/platform/errors.ts';
import { customParameters, gradeScopes, messageTypes } from '../../shared/lti/claims.ts';
import { responseJson, PlatformRequestError } from '../../shared/lti/platform-requests.ts';
import type { PlatformResponse, PlatformClient } from '../../shared/lti/platform-requests.ts';
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

const toolClaim = 'https://purl.imsglobal.org/spec/lti-tool-configuration';

/** Where teachers are offered to choose a lesson: in a course's content, and in Canvas by names of its own. */
const wantedPlacements = [
  'ContentArea',
  'https://canvas.instructure.com/lti/assignment_selection',
  'https://canvas.instructure.com/lti/link_selection',
];

const wantedScopes: string[] = [gradeScopes.lineItem, gradeScopes.score];

interface Needs {
  config: Pick<Config, 'download'>;
  db: Database;
  lti: { client: PlatformClient };
}

/** What a platform opens a registration with. */
export interface RegistrationRequest {
  /** Of the invitation. */
  invitation: string;
  /** Where the platform's configuration is. */
  configurationUrl: string;
  /** What the platform lets in for its registration endpoint; null where it lets anybody in. */
  registrationToken: string | null;
  /** Lectern's own, without a slash at its end. */
  publicUrl: string;
}

const invitationCodes: Record<InvitationFault, RegistrationFaultCode> = {
  unknown: 'invitation_unknown',
  expired: 'invitation_expired',
  used: 'invitation_used',
  under_way: 'registration_under_way',
};

/**
 * Registers Lectern in a platform, which then waits for an operator's approval. An invitation is used up by a
 * registration that came to its end, and by no other. A process that dies in the middle leaves it taken for two
 * minutes; the platform may know a tool by then of which Lectern knows nothing, and gets another one by the next try.
 *
 * @throws {RegistrationFault}
 */
export async function registerTool(needs: Needs, request: RegistrationRequest): Promise<LtiPlatform> {
  const invitation = await beginRegistration(needs.db, request.invitation);
  if (typeof invitation === 'string') throw new RegistrationFault(invitationCodes[invitation]);
  try {
    const platform = await register(needs, request, invitation);
    await endRegistration(needs.db, invitation, platform._id);
    return platform;
  } catch (error) {
    // Where this fails too, the invitation is free again after a while.
    await releaseRegistration(needs.db, invitation).catch(() => undefined);
    throw error;
  }
}

async function register(
  { config, db, lti }: Needs,
  { configurationUrl, registrationToken, publicUrl }: RegistrationRequest,
  { organizationId }: LtiRegistration,
): Promise<LtiPlatform> {
  const { allowedPrivateHosts } = config.download;
  const configuration = await fetchConfiguration(lti.client, configurationUrl, allowedPrivateHosts);
  const answer = await post(lti.client, configuration, registrationToken, publicUrl);
  const parsed = answerSchema.safeParse(responseJson(answer));
  if (!parsed.success) {
    throw new RegistrationFault('registration_unclear', `it answered ${answer.status} without a client_id`);
  }
  const { client_id: clientId, [toolClaim]: tool } = parsed.data;
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
      name,
      status: 'pending',
    });
  } catch (error) {
    if (!(error instanceof LecternError) || error.code !== 'CONFLICT') throw error;
    throw new RegistrationFault('already_registered', issuer, error);
  }
}

/** Ids are strings by the standard; some platforms count. */
const id = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(z.string().regex(/^[\x20-\x7e]{1,255}$/));

const answerSchema = z.object({
  client_id: id,
  [toolClaim]: z
    .object({ deployment_id: id.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** @returns the platform's word that the tool is registered. */
async function post(
  client: PlatformClient,
  configuration: PlatformConfiguration,
  registrationToken: string | null,
  publicUrl: string,
): Promise<PlatformResponse> {
  let answer: PlatformResponse;
  try {
    answer = await client.request(configuration.registrationUrl, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        ...(registrationToken !== null && { Authorization: `Bearer ${registrationToken}` }),
      },
      body: JSON.stringify(toolRegistration(configuration, publicUrl)),
    });
  } catch (error) {
    const unsent = error instanceof PlatformRequestError && error.reason === 'blocked_address';
    throw new RegistrationFault(unsent ? 'address_refused' : 'registration_unclear', messageOf(error), error);
  }
  const { status, text } = answer;
  if (status >= 200 && status < 300) return answer;
  // Behind a 5xx there may be a tool all the same.
  const code = status >= 500 ? 'registration_unclear' : 'registration_refused';
  throw new RegistrationFault(code, `it answered ${status}: ${text.slice(0, 300)}`);
}

/** What Lectern is, in the words of OpenID Connect Dynamic Registration and of LTI. */
function toolRegistration({ scopes, placements }: PlatformConfiguration, address: string) {
  const launch = `${address}/lti/launch`;
  const chosen =
    placements === null ? [] : wantedPlacements.filter((placement) => placements.includes(placement));
  return {
    application_type: 'web',
    response_types: ['id_token'],
    grant_types: ['implicit', 'client_credentials'],
    initiate_login_uri: `${address}/lti/login`,
    redirect_uris: [launch],
    client_name: 'Lectern',
    jwks_uri: `${address}/lti/jwks`,
    token_endpoint_auth_method: 'private_key_jwt',
    scope: wantedScopes.filter((scope) => scopes?.includes(scope) ?? true).join(' '),
    [toolClaim]: {
      domain: new URL(address).host,
      description: 'Lessons, with progress and grades.',
      target_link_uri: launch,
      custom_parameters: {
        [customParameters.resourceLinkHistory]: '$ResourceLink.id.history',
        [customParameters.contextHistory]: '$Context.id.history',
      },
      // Nobody's name is needed.
      claims: ['iss', 'sub'],
      messages: [
        { type: messageTypes.resourceLink, target_link_uri: launch, label: 'Lectern' },
        {
          type: messageTypes.deepLinking,
          target_link_uri: launch,
          label: 'Lectern',
          ...(chosen.length > 0 && { placements: chosen }),
        },
      ],
    },
  };
}
