import type { Platform } from './platform.ts';
import { variableNames } from './variables.ts';
import { messageTypes, platformConfiguration } from '../shared/lti/claims.ts';
import { canvasPlacements } from './placements.ts';
import { allScopes } from './vocabulary.ts';

/** Returns the document of OpenID Connect Discovery, with LTI's fields for dynamic registration. */
export function openIdConfiguration({ settings, urls }: Platform) {
  return {
    issuer: settings.issuer,
    authorization_endpoint: urls.authorization,
    token_endpoint: urls.token,
    // Canvas names a host, which is no audience.
    ...(settings.canvas && { authorization_server: new URL(urls.token).host }),
    token_endpoint_auth_methods_supported: ['private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['RS256'],
    jwks_uri: urls.jwks,
    registration_endpoint: urls.registration,
    scopes_supported: ['openid', ...allScopes],
    response_types_supported: ['id_token'],
    response_modes_supported: ['form_post'],
    grant_types_supported: ['implicit', 'client_credentials'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['sub', 'iss', 'name', 'given_name', 'family_name', 'email'],
    [platformConfiguration]: {
      product_family_code: settings.canvas ? 'canvas' : 'lectern-simulator',
      version: '1',
      messages_supported: [
        { type: messageTypes.resourceLink, ...(settings.canvas && { placements: [...canvasPlacements] }) },
        {
          type: messageTypes.deepLinking,
          placements: settings.canvas ? [...canvasPlacements] : ['ContentArea'],
        },
      ],
      variables: variableNames,
    },
  };
}
