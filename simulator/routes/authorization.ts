import type Router from '@koa/router';
import { createRouter, applyFaults, readParameters, Rejection } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import { signIdToken } from '../id-token.ts';
import { messageOf } from '../messages.ts';
import type { Launch, Tool } from '../model.ts';
import { postPage, postPagePolicy, renderRejectionPages } from '../pages/send.ts';
import type { Platform } from '../platform.ts';
import { claim } from '../vocabulary.ts';

type Parameters = Readonly<Record<string, string>>;

/** Parameters with their required values, and the OpenID Connect error for other values. */
const required: readonly (readonly [string, string, string])[] = [
  ['response_type', 'id_token', 'unsupported_response_type'],
  ['response_mode', 'form_post', 'invalid_request'],
  ['prompt', 'none', 'invalid_request'],
];

/** The authorization endpoint of OpenID Connect, GET and POST, which sends the tool its message. */
export function authorizationRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.use(
    '/authorize',
    applyFaults(platform, 'authorization'),
    renderRejectionPages(platform, 'authorization request'),
  );
  router.get('/authorize', (ctx) => authorize(ctx, platform));
  router.post('/authorize', (ctx) => authorize(ctx, platform));
  return router;
}

async function authorize(ctx: Context, platform: Platform): Promise<void> {
  const parameters = readParameters(ctx);
  const { tool, redirectUri } = requireRedirectUri(platform, parameters);
  const { state } = parameters;
  const answer = await createResponse(platform, tool, parameters).catch((error: unknown) => {
    if (!(error instanceof Rejection)) throw error;
    return { error: error.code, error_description: error.message };
  });
  logMessage(platform, parameters, answer);
  ctx.set('Content-Security-Policy', postPagePolicy);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'html';
  ctx.body = postPage(redirectUri, { ...answer, ...(state !== undefined && { state }) });
}

/** Returns the redirect URI, which the tool must have registered. */
function requireRedirectUri(
  { tools }: Platform,
  parameters: Parameters,
): { tool: Tool; redirectUri: string } {
  const tool = tools.get(parameters.client_id ?? '');
  if (tool === undefined) throw new Rejection(400, 'invalid_client', 'No tool has this client_id.');
  const { redirect_uri: redirectUri = '' } = parameters;
  if (!tool.redirectUris.includes(redirectUri)) {
    throw new Rejection(400, 'invalid_request', `redirect_uri is not registered: ${redirectUri}`);
  }
  return { tool, redirectUri };
}

async function createResponse(
  platform: Platform,
  tool: Tool,
  parameters: Parameters,
): Promise<Record<string, string>> {
  checkParameters(parameters);
  const launch = useLaunch(platform, tool, parameters);
  const claims = messageOf(platform, launch, parameters.nonce ?? '');
  const tampering = launch.tampering ?? platform.tamperings.shift();
  const token = await signIdToken(platform.keys, claims, tampering);
  const kind = String(claims[claim.messageType]);
  const summary = `${kind} for ${launch.user.name} in ${launch.course.title}`;
  platform.journal.addMessage({ kind: 'id_token', accepted: true, summary, content: claims });
  const { storageTarget } = launch;
  return { id_token: token, ...(storageTarget !== null && { lti_storage_target: storageTarget }) };
}

function checkParameters(parameters: Parameters): void {
  const { scope = '' } = parameters;
  if (!scope.split(' ').includes('openid'))
    throw new Rejection(400, 'invalid_scope', 'scope must be openid.');
  for (const [name, value, error] of required) {
    if (parameters[name] !== value) throw new Rejection(400, error, `${name} must be ${value}.`);
  }
  for (const name of ['nonce', 'state']) {
    if (!parameters[name]) throw new Rejection(400, 'invalid_request', `${name} is missing.`);
  }
}

/**
 * Uses up the launch that both hints identify. As in Canvas and Moodle, a message hint is valid once. The error is
 * Canvas's; Moodle shows its own page.
 */
function useLaunch({ launches }: Platform, tool: Tool, parameters: Parameters): Launch {
  const launch = launches.get(parameters.lti_message_hint ?? '');
  if (launch === undefined) {
    throw new Rejection(400, 'login_required', 'lti_message_hint must be one that the platform sent.');
  }
  if (launch.user.loginHint !== parameters.login_hint) {
    throw new Rejection(400, 'login_required', 'login_hint must be that of the logged-in user.');
  }
  if (launch.tool.clientId !== tool.clientId) {
    throw new Rejection(400, 'unauthorized_client', 'The message is for another tool.');
  }
  if (launch.used) {
    throw new Rejection(
      400,
      'launch_no_longer_valid',
      'lti_message_hint was used before, and is valid once.',
    );
  }
  launch.used = true;
  return launch;
}

function logMessage({ journal }: Platform, parameters: Parameters, answer: Record<string, string>): void {
  const { error, error_description: reason } = answer;
  const summary = error === undefined ? 'got an id_token' : `${error}: ${reason ?? ''}`;
  journal.addMessage({
    kind: 'authorization request',
    accepted: error === undefined,
    summary,
    content: parameters,
  });
}
