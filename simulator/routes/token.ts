import type Router from '@koa/router';
import { decodeJwt, errors } from 'jose';
import { createRouter, applyFaults, readParameters, Rejection, renderRejections } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import { randomText } from '../model.ts';
import type { Tool } from '../model.ts';
import type { Platform } from '../platform.ts';
import { tokenSeconds } from '../platform.ts';
import { verifyToolJwt } from '../tool-jwt.ts';
import { scope } from '../vocabulary.ts';

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The token endpoint, which exchanges a tool's assertion for an access token. */
export function tokenRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  const rejections = renderRejections(platform, 'token request');
  router.post('/token', applyFaults(platform, 'token'), rejections, async (ctx) => {
    const { clientId, scopes } = await grant(ctx, platform);
    const token = randomText();
    platform.accessTokens.set(token, { clientId, scopes });
    const granted = scopes.join(' ');
    const content = readParameters(ctx);
    platform.journal.addMessage({
      kind: 'token request',
      accepted: true,
      summary: `for ${granted}`,
      content,
    });
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      access_token: token,
      token_type: 'Bearer',
      expires_in: tokenSeconds,
      scope: granted,
    };
  });
  return router;
}

async function grant(ctx: Context, platform: Platform): Promise<{ clientId: string; scopes: string[] }> {
  if (!ctx.is('application/x-www-form-urlencoded')) throw invalidRequest('The body must be a form.');
  const parameters = readParameters(ctx);
  if (parameters.grant_type !== 'client_credentials') {
    throw new Rejection(400, 'unsupported_grant_type', 'grant_type must be client_credentials.');
  }
  if (parameters.client_assertion_type !== assertionType) {
    throw invalidRequest(`client_assertion_type must be ${assertionType}.`);
  }
  const tool = await authenticate(platform, parameters.client_assertion ?? '');
  const asked = (parameters.scope ?? '').split(' ').filter((name) => name !== '');
  const scopes = asked.filter((name) => mayHave(tool, name));
  if (scopes.length === 0) {
    throw new Rejection(
      400,
      'invalid_scope',
      `The tool may have none of the requested scopes: ${asked.join(' ') || '(none)'}`,
    );
  }
  return { clientId: tool.clientId, scopes };
}

/** The scope for changing line items includes that for reading them. */
function mayHave({ scopes }: Tool, name: string): boolean {
  return scopes.includes(name) || (name === scope.lineItemReadonly && scopes.includes(scope.lineItem));
}

/** Returns the tool that signed the assertion (RFC 7523), whose id is valid once. */
async function authenticate(platform: Platform, assertion: string): Promise<Tool> {
  const clientId = subjectOf(assertion);
  const tool = platform.tools.get(clientId);
  if (tool === undefined) throw new Rejection(401, 'invalid_client', 'No tool has the client id in sub.');
  await verifyToolJwt(platform, tool, assertion, {
    audience: platform.urls.token,
    once: 'jti',
    code: 'invalid_client',
    status: 401,
  });
  return tool;
}

/** @throws {Rejection} if it is not a JWT */
function subjectOf(assertion: string): string {
  try {
    return decodeJwt(assertion).sub ?? '';
  } catch (error) {
    if (!(error instanceof errors.JWTInvalid)) throw error;
    throw invalidRequest('client_assertion must be a JWT.');
  }
}

function invalidRequest(message: string): Rejection {
  return new Rejection(400, 'invalid_request', message);
}
