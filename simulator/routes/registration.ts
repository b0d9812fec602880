import type Router from '@koa/router';
import { z } from 'zod';
import { createRouter, applyFaults, readJson, Rejection, renderRejections } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import type { Tool } from '../model.ts';
import { openIdConfiguration } from '../openid-configuration.ts';
import { placementsOf } from '../placements.ts';
import type { Platform } from '../platform.ts';
import { addTool } from '../tools.ts';
import { messageTypes, toolConfiguration } from '../../shared/lti/claims.ts';
import { allScopes } from '../vocabulary.ts';

const httpUrl = z.url({ protocol: /^https?$/ });
const parameters = z.record(z.string(), z.string());

const registrationSchema = z.looseObject({
  application_type: z.literal('web'),
  response_types: z.array(z.string()).refine((types) => types.includes('id_token'), 'must include id_token'),
  grant_types: z
    .array(z.string())
    .refine((types) => types.includes('implicit') && types.includes('client_credentials'), {
      message: 'must include implicit and client_credentials',
    }),
  initiate_login_uri: httpUrl,
  redirect_uris: z.array(httpUrl).min(1),
  client_name: z.string().min(1),
  jwks_uri: httpUrl,
  token_endpoint_auth_method: z.literal('private_key_jwt'),
  scope: z.string().default(''),
  [toolConfiguration]: z.looseObject({
    domain: z.string().min(1),
    target_link_uri: httpUrl,
    custom_parameters: parameters.optional(),
    claims: z.array(z.string()),
    messages: z.array(
      z.looseObject({
        type: z.string(),
        target_link_uri: httpUrl.optional(),
        placements: z.array(z.string()).optional(),
      }),
    ),
  }),
});

type Registration = z.infer<typeof registrationSchema>;

/** Dynamic registration: the platform's configuration, and the registration endpoint. */
export function registrationRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.get('/.well-known/openid-configuration', (ctx) => {
    ctx.body = openIdConfiguration(platform);
  });
  const rejections = renderRejections(platform, 'registration');
  router.post('/registration', applyFaults(platform, 'registration'), rejections, (ctx) => {
    const { registration, tool } = register(ctx, platform);
    const content = { ...registration, client_id: tool.clientId };
    platform.journal.addMessage({ kind: 'registration', accepted: true, summary: tool.name, content });
    ctx.status = 201;
    ctx.body = responseTo(platform, registration, tool);
  });
  return router;
}

/** Registers a tool and uses up the token. After a rejection, the tool can correct the registration and retry. */
function register(ctx: Context, platform: Platform): { registration: Registration; tool: Tool } {
  const [, token = ''] = /^Bearer (.+)$/i.exec(ctx.get('authorization')) ?? [];
  const entry = platform.registrationTokens.get(token);
  if (entry?.clientId !== null) {
    throw new Rejection(401, 'invalid_token', 'The registration token is missing, unknown, expired or used.');
  }
  const parsed = registrationSchema.safeParse(readJson(ctx));
  if (!parsed.success) throw invalidMetadata(parsed.error);
  const tool = addTool(platform, toolOf(platform, parsed.data));
  entry.clientId = tool.clientId;
  return { registration: parsed.data, tool };
}

function invalidMetadata(error: z.ZodError): Rejection {
  const isRedirect = error.issues.every(({ path }) => path[0] === 'redirect_uris');
  const code = isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata';
  return new Rejection(400, code, z.prettifyError(error));
}

function toolOf({ settings }: Platform, registration: Registration) {
  const { [toolConfiguration]: configuration } = registration;
  const deepLinking = configuration.messages.find(({ type }) => type === messageTypes.deepLinking);
  return {
    name: registration.client_name,
    loginUrl: registration.initiate_login_uri,
    redirectUris: registration.redirect_uris,
    jwksUrl: registration.jwks_uri,
    targetLinkUri: configuration.target_link_uri,
    deepLinkUrl: deepLinking?.target_link_uri ?? null,
    custom: configuration.custom_parameters ?? {},
    placements: settings.canvas ? placementsOf(configuration.messages, configuration.target_link_uri) : null,
    scopes: registration.scope.split(' ').filter((scope) => allScopes.includes(scope)),
  };
}

function responseTo({ settings }: Platform, registration: Registration, tool: Tool) {
  const [deploymentId] = tool.deploymentIds;
  return {
    ...registration,
    client_id: tool.clientId,
    scope: tool.scopes.join(' '),
    [toolConfiguration]: {
      ...registration[toolConfiguration],
      ...(settings.deploymentOnRegistration && { deployment_id: deploymentId }),
    },
  };
}
