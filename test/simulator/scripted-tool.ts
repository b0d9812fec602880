import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWTPayload } from 'jose';
import type { LineItem, Link, Tool } from '../../simulator/model.ts';
import { withPathSuffix } from '../../simulator/addresses.ts';
import type { LinkOptions, Simulator } from '../../simulator/simulator.ts';
import { mediaType, scope } from '../../simulator/vocabulary.ts';

/** A small LTI tool that does what a test tells it to, made with nothing of Lectern's own tool. */
export interface ScriptedTool {
  /** Such as http://127.0.0.1:40123. */
  url: string;
  /** As it is registered with the simulator. */
  tool: Tool;
  /** Registers it once more, as another client. */
  register(details?: Partial<Tool>): Tool;
  /** What was posted to its launch address, in order. */
  launches: Record<string, string>[];
  /** Laid over the parameters of its next authorization requests; undefined takes one away. */
  authorization: Record<string, string | undefined>;
  /** What its pages say, as HTML, by path; `/launch` and others. */
  pages: Map<string, string>;
  /** A JWT by its key: `iss` its client id, issued now, good for a minute. */
  sign(claims: JWTPayload, header?: object): Promise<string>;
  /** The form of a token request, with `claims` laid over those of the assertion. */
  tokenRequest(scopes: string, claims?: JWTPayload): Promise<URLSearchParams>;
  /** An access token of the simulator. */
  token(...scopes: string[]): Promise<string>;
  /** In the sample course unless told otherwise. */
  link(options?: Partial<LinkOptions>): Link;
  /** A score with `changes` laid over one that is completed and graded. */
  sendScore(lineItem: LineItem, changes?: object): Promise<Response>;
  close(): void;
}

const kid = 'the key of the scripted tool';

/** Starts a tool that the simulator knows. */
export async function startScriptedTool(simulator: Simulator): Promise<ScriptedTool> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }] });
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
    url,
    tool,
    register,
    launches: [],
    authorization: {},
    pages: new Map([['/launch', '<h1>The tool</h1>']]),
    sign: (claims, header) => sign(privateKey, { iss: tool.clientId, ...claims }, header),
    tokenRequest: async (scopes, claims) => {
      const { clientId } = tool;
      const { token: aud } = simulator.addresses;
      return new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await scripted.sign({ sub: clientId, aud, jti: randomUUID(), ...claims }),
        scope: scopes,
      });
    },
    token: async (...scopes) => {
      const body = await scripted.tokenRequest(scopes.join(' '));
      const response = await fetch(simulator.addresses.token, { method: 'POST', body });
      const { access_token: token } = (await response.json()) as { access_token: string };
      return token;
    },
    link: (options) => simulator.addLink({ course: simulator.sample.course, tool, ...options }),
    sendScore: async (lineItem, changes) => {
      const body = {
        timestamp: new Date().toISOString(),
        activityProgress: 'Completed',
        gradingProgress: 'FullyGraded',
        ...changes,
      };
      return fetch(withPathSuffix(simulator.addressOf(lineItem), '/scores'), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await scripted.token(scope.score)}`,
          'content-type': mediaType.score,
        },
        body: JSON.stringify(body),
      });
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '', url);
    const form = Object.fromEntries(new URLSearchParams((await text(request)) || search));
    if (pathname === '/jwks') {
      response.setHeader('content-type', 'application/json');
      response.end(jwks);
      return;
    }
    if (pathname === '/login') {
      response.writeHead(302, { location: authorizationUrl(simulator, scripted, form) }).end();
      return;
    }
    if (pathname === '/launch') scripted.launches.push(form);
    response.setHeader('content-type', 'text/html');
    response.end(scripted.pages.get(pathname) ?? '');
  }
  return scripted;
}

function authorizationUrl(
  { addresses }: Simulator,
  { url, tool, authorization }: ScriptedTool,
  login: Record<string, string>,
): string {
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
  const address = new URL(addresses.authorization);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) address.searchParams.set(name, value);
  }
  return address.href;
}

function sign(key: CryptoKey, claims: JWTPayload, header: object = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iat: now, exp: now + 60, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid, ...header })
    .sign(key);
}
