import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JWTPayload } from 'jose';
import { beforeEach } from 'vitest';
import type { LineItem, Link, Tool } from '../../simulator/model.ts';
import { withPathSuffix } from '../../simulator/urls.ts';
import type { LinkOptions, Simulator } from '../../simulator/simulator.ts';
import { startSimulator } from '../../simulator/start.ts';
import type { SimulatorOptions } from '../../simulator/start.ts';
import { mediaType, scope } from '../../simulator/vocabulary.ts';
import { listen } from '../support/serve.ts';
import { useStarted } from '../support/use.ts';

/** A small LTI tool that tests script. It shares no code with Lectern's tool. */
export interface ScriptedTool {
  /** Such as http://127.0.0.1:40123. */
  url: string;
  tool: Tool;
  /** Registers it again, as another client. */
  register(details?: Partial<Tool>): Tool;
  /** The forms that were posted to its launch URL, in order. */
  launches: Record<string, string>[];
  /** Changes to the parameters of its next authorization requests; undefined removes one. */
  authorization: Record<string, string | undefined>;
  /** The HTML of its pages, by path. */
  pages: Map<string, string>;
  /** Signs a JWT with its client id as `iss`, valid for a minute. */
  sign(claims: JWTPayload): Promise<string>;
  token(...scopes: string[]): Promise<string>;
  /** Adds a link, by default to the sample course. */
  link(options?: Partial<LinkOptions>): Link;
  /** Sends a completed and graded score with changes. */
  sendScore(lineItem: LineItem, changes?: object, headers?: Record<string, string>): Promise<Response>;
}

const kid = 'the key of the scripted tool';

/** Starts a platform and a tool that is registered with it, which all tests of a file share. */
export function useSimulatorLab(options?: SimulatorOptions): {
  simulator: Simulator;
  scripted: ScriptedTool;
} {
  const lab = useStarted(
    async () => {
      const simulator = await startSimulator(options);
      return { simulator, ...(await startScriptedTool(simulator)) };
    },
    async ({ simulator, close }) => {
      await close();
      await simulator.close();
    },
  );
  beforeEach(() => {
    lab.scripted.authorization = {};
    lab.scripted.launches = [];
    lab.simulator.heal();
  });
  return lab;
}

async function startScriptedTool(
  simulator: Simulator,
): Promise<{ scripted: ScriptedTool; close: () => Promise<void> }> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }] });
  const server = createServer((request, response) => void respond(request, response));
  const { origin: url, close } = await listen(server);
  const register = (details: Partial<Tool> = {}) =>
    simulator.addTool({
      loginUrl: `${url}/login`,
      redirectUris: [`${url}/launch`],
      jwksUrl: `${url}/jwks`,
      targetLinkUri: `${url}/launch`,
      ...details,
    });
  const tool = register();

  const scripted: ScriptedTool = {
    ...{ url, tool, register },
    launches: [],
    authorization: {},
    pages: new Map([['/launch', '<h1>The tool</h1>']]),
    sign: (claims) => {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ iss: tool.clientId, iat: now, exp: now + 60, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid })
        .sign(privateKey);
    },
    token: async (...scopes) => {
      const claims = { sub: tool.clientId, aud: simulator.urls.token, jti: randomUUID() };
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await scripted.sign(claims),
        scope: scopes.join(' '),
      });
      const response = await fetch(simulator.urls.token, { method: 'POST', body });
      return ((await response.json()) as { access_token: string }).access_token;
    },
    link: (options) => simulator.addLink({ course: simulator.sample.course, tool, ...options }),
    sendScore: async (lineItem, changes, headers) =>
      fetch(withPathSuffix(simulator.urlOf(lineItem), '/scores'), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await scripted.token(scope.score)}`,
          'content-type': mediaType.score,
          ...headers,
        },
        body: JSON.stringify({
          timestamp: new Date().toISOString(),
          ...{ activityProgress: 'Completed', gradingProgress: 'FullyGraded' },
          ...changes,
        }),
      }),
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '', url);
    const form = Object.fromEntries(new URLSearchParams((await text(request)) || search));
    if (pathname === '/jwks') {
      response.setHeader('content-type', 'application/json').end(jwks);
    } else if (pathname === '/login') {
      response.writeHead(302, { location: authorizationUrl(simulator, scripted, form) }).end();
    } else {
      if (pathname === '/launch') scripted.launches.push(form);
      response.setHeader('content-type', 'text/html').end(scripted.pages.get(pathname) ?? '');
    }
  }
  return { scripted, close };
}

function authorizationUrl(
  { urls }: Simulator,
  { url, tool, authorization }: ScriptedTool,
  login: Record<string, string>,
): string {
  const target = new URL(urls.authorization);
  const parameters = {
    scope: 'openid',
    response_type: 'id_token',
    response_mode: 'form_post',
    prompt: 'none',
    client_id: login.client_id ?? tool.clientId,
    redirect_uri: `${url}/launch`,
    login_hint: login.login_hint,
    lti_message_hint: login.lti_message_hint,
    state: randomUUID(),
    nonce: randomUUID(),
    ...authorization,
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) target.searchParams.set(name, value);
  }
  return target.href;
}
