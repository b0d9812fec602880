import type Router from '@koa/router';
import { z } from 'zod';
import { createRouter, failing, readJson, Refusal, renderRefusals } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import type { Tool } from '../model.ts';
import { openIdConfiguration } from '../openid-configuration.ts';
import type { Platform } from '../platform.ts';
import { addTool } from '../tools.ts';
import { allScopes, messageTypes, toolConfiguration } from '../vocabulary.ts';

const address = z.url({ protocol: /^https?$/ });
const parameters = z.record(z.string(), z.string());

const registrationSchema = z.looseObject({
  application_type: z.literal('web'),
  response_types: z.array(z.string()).refine((types) => types.includes('id_token'), 'has to name id_token'),
  grant_types: z
    .array(z.string())
    .refine((types) => types.includes('implicit') && types.includes('client_credentials'), {
      message: 'has to name implicit and client_credentials',
    }),
  initiate_login_uri: address,
  redirect_uris: z.array(address).min(1),
  client_name: z.string().min(1),
  jwks_uri: address,
  token_endpoint_auth_method: z.literal('private_key_jwt'),
  scope: z.string().default(''),
  [toolConfiguration]: z.looseObject({
    domain: z.string().min(1),
    target_link_uri: address,
    custom_parameters: parameters.optional(),
    claims: z.array(z.string()),
    messages: z.array(z.looseObject({ type: z.string(), target_link_uri: address.optional() })),
  }),
});

type Registration = z.infer<typeof registrationSchema>;

/** Dynamic registration: the configuration that tools read, and the endpoint that they register at. */
export function registrationRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.get('/.well-known/openid-configuration', (ctx) => {
    ctx.body = openIdConfiguration(platform);
  });
  const refusals = renderRefusals(platform, 'registration');
  router.post('/registration', failing(platform, 'registration'), refusals, (ctx) => {
    const { registration, tool } = register(ctx, platform);
    const content = { ...registration, client_id: tool.clientId };
    platform.journal.tell({ kind: 'registration', accepted: true, summary: tool.name, content });
    ctx.status = 201;
    ctx.body = answerOf(platform, registration, tool);
  });
  return router;
}

/** The token is good for one registration; one that was refused may be mended and sent again. */
function register(ctx: Context, platform: Platform): { registration: Registration; tool: Tool } {
  const [, token = ''] = /^Bearer (.+)$/i.exec(ctx.get('authorization')) ?? [];
  const entry = platform.registrationTokens.get(token);
  if (entry?.clientId !== null) {
    throw new Refusal(401, 'invalid_token', 'The registration token is missing, unknown, expired or used.');
  }
  const parsed = registrationSchema.safeParse(readJson(ctx));
  if (!parsed.success) throw invalidMetadata(parsed.error);
  const tool = addTool(platform, toolOf(parsed.data));
  entry.clientId = tool.clientId;
  return { registration: parsed.data, tool };
}

function invalidMetadata(error: z.ZodError): Refusal {
  const isRedirect = error.issues.every(({ path }) => path[0] === 'redirect_uris');
  const code = isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata';
  return new Refusal(400, code, z.prettifyError(error));
}

function toolOf(registration: Registration) {
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
    scopes: registration.scope.split(' ').filter((scope) => allScopes.includes(scope)),
  };
}

function answerOf({ settings }: Platform, registration: Registration, tool: Tool) {
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
