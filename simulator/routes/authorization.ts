import type Router from '@koa/router';
import { createRouter, failing, readParameters, Refusal } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import { signIdToken } from '../id-token.ts';
import { messageOf } from '../messages.ts';
import type { Launch, Tool } from '../model.ts';
import { postPage, postPagePolicy, renderRefusedPages } from '../pages/send.ts';
import type { Platform } from '../platform.ts';
import { claim } from '../vocabulary.ts';

type Parameters = Readonly<Record<string, string>>;

/** What a request has to say, word for word; by the error that OpenID Connect has for others. */
const required: readonly (readonly [string, string, string])[] = [
  ['response_type', 'id_token', 'unsupported_response_type'],
  ['response_mode', 'form_post', 'invalid_request'],
  ['prompt', 'none', 'invalid_request'],
];

/** The authorization endpoint of OpenID Connect, GET and POST: it gives the tool the message it was told of. */
export function authorizationRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.use(
    '/authorize',
    failing(platform, 'authorization'),
    renderRefusedPages(platform, 'authorization request'),
  );
  router.get('/authorize', (ctx) => authorize(ctx, platform));
  router.post('/authorize', (ctx) => authorize(ctx, platform));
  return router;
}

async function authorize(ctx: Context, platform: Platform): Promise<void> {
  const parameters = readParameters(ctx);
  const { tool, redirectUri } = whereTo(platform, parameters);
  const { state } = parameters;
  const answer = await answerTo(platform, tool, parameters).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    return { error: error.code, error_description: error.message };
  });
  tell(platform, parameters, answer);
  ctx.set('Content-Security-Policy', postPagePolicy);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'html';
  ctx.body = postPage(redirectUri, { ...answer, ...(state !== undefined && { state }) });
}

/** Nothing is sent to an address that is not the tool's own. */
function whereTo({ tools }: Platform, parameters: Parameters): { tool: Tool; redirectUri: string } {
  const tool = tools.get(parameters.client_id ?? '');
  if (tool === undefined) throw new Refusal(400, 'invalid_client', 'No tool has this client_id.');
  const { redirect_uri: redirectUri = '' } = parameters;
  if (!tool.redirectUris.includes(redirectUri)) {
    throw new Refusal(400, 'invalid_request', `redirect_uri is not registered: ${redirectUri}`);
  }
  return { tool, redirectUri };
}

async function answerTo(
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
  platform.journal.tell({ kind: 'id_token', accepted: true, summary, content: claims });
  const { storageTarget } = launch;
  return { id_token: token, ...(storageTarget !== null && { lti_storage_target: storageTarget }) };
}

function checkParameters(parameters: Parameters): void {
  const { scope = '' } = parameters;
  if (!scope.split(' ').includes('openid'))
    throw new Refusal(400, 'invalid_scope', 'scope has to be openid.');
  for (const [name, value, error] of required) {
    if (parameters[name] !== value) throw new Refusal(400, error, `${name} has to be ${value}.`);
  }
  for (const name of ['nonce', 'state']) {
    if (!parameters[name]) throw new Refusal(400, 'invalid_request', `${name} is missing.`);
  }
}

/**
 * The user is known by both hints: whoever has one of them alone is not logged in. As with Canvas and Moodle, a message
 * hint is good for one answer; the error is that of Canvas, where Moodle shows a page of its own.
 */
function useLaunch({ launches }: Platform, tool: Tool, parameters: Parameters): Launch {
  const launch = launches.get(parameters.lti_message_hint ?? '');
  if (launch === undefined) {
    throw new Refusal(400, 'login_required', 'lti_message_hint is not one that the platform gave out.');
  }
  if (launch.user.loginHint !== parameters.login_hint) {
    throw new Refusal(400, 'login_required', 'login_hint is not of the user who is logged in.');
  }
  if (launch.tool.clientId !== tool.clientId) {
    throw new Refusal(400, 'unauthorized_client', 'The message is for another tool.');
  }
  if (launch.used) {
    throw new Refusal(400, 'launch_no_longer_valid', 'lti_message_hint was used before, and is good once.');
  }
  launch.used = true;
  return launch;
}

function tell({ journal }: Platform, parameters: Parameters, answer: Record<string, string>): void {
  const { error, error_description: reason } = answer;
  const summary = error === undefined ? 'answered with an id_token' : `${error}: ${reason ?? ''}`;
  journal.tell({
    kind: 'authorization request',
    accepted: error === undefined,
    summary,
    content: parameters,
  });
}
