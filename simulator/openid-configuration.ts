import type { Platform } from './platform.ts';
import { variableNames } from './variables.ts';
import { allScopes, messageTypes, platformConfiguration } from './vocabulary.ts';

/** The document of OpenID Connect Discovery, with what LTI adds for dynamic registration. */
export function openIdConfiguration({ settings, addresses }: Platform) {
  return {
    issuer: settings.issuer,
    authorization_endpoint: addresses.authorization,
    token_endpoint: addresses.token,
    // Tools take the token endpoint where it is not named.
    ...(settings.authorizationServer !== addresses.token && {
      authorization_server: settings.authorizationServer,
    }),
    token_endpoint_auth_methods_supported: ['private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['RS256'],
    jwks_uri: addresses.jwks,
    registration_endpoint: addresses.registration,
    scopes_supported: ['openid', ...allScopes],
    response_types_supported: ['id_token'],
    response_modes_supported: ['form_post'],
    grant_types_supported: ['implicit', 'client_credentials'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['sub', 'iss', 'name', 'given_name', 'family_name', 'email'],
    [platformConfiguration]: {
      product_family_code: 'lectern-simulator',
      version: '1',
      messages_supported: [
        { type: messageTypes.resourceLink },
        { type: messageTypes.deepLinking, placements: ['ContentArea'] },
      ],
      variables: variableNames,
    },
  };
}
