import type Router from '@koa/router';
import { decodeJwt, errors } from 'jose';
import { createRouter, failing, readParameters, Refusal, renderRefusals } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import { randomText } from '../ids.ts';
import type { Tool } from '../model.ts';
import type { Platform } from '../platform.ts';
import { verifyToolJwt } from '../tool-jwt.ts';
import { scope } from '../vocabulary.ts';

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The token endpoint: an assertion that the tool signed against an access token for the services. */
export function tokenRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  const refusals = renderRefusals(platform, 'token request');
  router.post('/token', failing(platform, 'token'), refusals, async (ctx) => {
    const { clientId, scopes } = await grant(ctx, platform);
    const token = randomText();
    platform.accessTokens.set(token, { clientId, scopes });
    const granted = scopes.join(' ');
    const content = readParameters(ctx);
    platform.journal.tell({ kind: 'token request', accepted: true, summary: `for ${granted}`, content });
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      access_token: token,
      token_type: 'Bearer',
      expires_in: platform.settings.tokenSeconds,
      scope: granted,
    };
  });
  return router;
}

async function grant(ctx: Context, platform: Platform): Promise<{ clientId: string; scopes: string[] }> {
  if (!ctx.is('application/x-www-form-urlencoded')) throw invalidRequest('The body has to be a form.');
  const parameters = readParameters(ctx);
  if (parameters.grant_type !== 'client_credentials') {
    throw new Refusal(400, 'unsupported_grant_type', 'grant_type has to be client_credentials.');
  }
  if (parameters.client_assertion_type !== assertionType) {
    throw invalidRequest(`client_assertion_type has to be ${assertionType}.`);
  }
  const tool = await authenticate(platform, parameters.client_assertion ?? '');
  const asked = (parameters.scope ?? '').split(' ').filter((name) => name !== '');
  const scopes = asked.filter((name) => mayHave(tool, name));
  if (scopes.length === 0) {
    throw new Refusal(
      400,
      'invalid_scope',
      `The tool may have none of: ${asked.join(' ') || 'nothing asked'}`,
    );
  }
  return { clientId: tool.clientId, scopes };
}

/** Whoever may change line items may read them. */
function mayHave({ scopes }: Tool, name: string): boolean {
  return scopes.includes(name) || (name === scope.lineItemReadonly && scopes.includes(scope.lineItem));
}

/** The tool that signed the assertion: RFC 7523, with an id that is used once. */
async function authenticate(platform: Platform, assertion: string): Promise<Tool> {
  const clientId = subjectOf(assertion);
  const tool = platform.tools.get(clientId);
  if (tool === undefined) throw new Refusal(401, 'invalid_client', 'No tool has the client id in sub.');
  await verifyToolJwt(platform, tool, assertion, {
    audience: platform.settings.authorizationServer,
    once: 'jti',
    code: 'invalid_client',
    status: 401,
  });
  return tool;
}

/** @throws {Refusal} where it is no JWT. */
function subjectOf(assertion: string): string {
  try {
    return decodeJwt(assertion).sub ?? '';
  } catch (error) {
    if (!(error instanceof errors.JWTInvalid)) throw error;
    throw invalidRequest('client_assertion has to be a JWT.');
  }
}

function invalidRequest(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
