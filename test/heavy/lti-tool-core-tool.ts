import { randomBytes, webcrypto } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, readResponseForm } from './foreign-tool.ts';
import type { ForeignTool } from './foreign-tool.ts';

interface Session {
  user: { id: string };
  context: { id: string };
  resourceLink?: { id: string };
  customParameters: Record<string, string>;
}

/** As much of @lti-tool/core as its documentation shows and the tests use. */
interface LtiTool {
  handleLogin(parameters: Record<string, string>): Promise<string>;
  verifyLaunch(idToken: string, state: string): Promise<object>;
  createSession(payload: object): Promise<Session>;
  getJWKS(): Promise<object>;
  initiateDynamicRegistration(request: object, path: string): Promise<string>;
  completeDynamicRegistration(form: object): Promise<string>;
  createDeepLinkingResponse(session: Session, items: object[]): Promise<string>;
  submitScore(session: Session, score: object): Promise<void>;
  getScores(session: Session): Promise<{ userId: string; resultScore?: number }[]>;
  listLineItems(session: Session): Promise<{ label: string }[]>;
}

interface Client {
  clientId: string;
  iss: string;
  jwksUrl: string;
  authUrl: string;
  tokenUrl: string;
}

/** Starts a tool made with @lti-tool/core, as its documentation does with another server. @param path of the module. */
export async function startLtiToolCore({ ltiToolCore: path }: { ltiToolCore: string }): Promise<ForeignTool> {
  const { LTITool: Tool } = (await import(path)) as { LTITool: new (config: object) => LtiTool };
  let handle = (_request: IncomingMessage, response: ServerResponse) => void response.end();
  const { url, close } = await listen(() => handle);
  const tool = new Tool({
    stateSecret: randomBytes(32),
    keyPair: await createKeyPair(),
    storage: createStorage(),
    dynamicRegistration: { url, name: '@lti-tool/core' },
  });
  handle = (request, response) => void serve(tool, url, request, response);
  let session: Session | null = null;
  const current = () => {
    if (session === null) throw new Error('Nothing was launched.');
    return session;
  };

  return {
    registrationUrl: `${url}/lti/register`,
    register: async (address) => {
      const form = await (await fetch(address)).text();
      const [, sessionToken = ''] = /name="sessionToken" value="([^"]+)"/.exec(form) ?? [];
      await tool.completeDynamicRegistration({ sessionToken, services: ['ags', 'deep_linking'] });
    },
    open: async ({ action, fields: { id_token: idToken = '', state = '' } }) => {
      if (action !== `${url}/lti/launch`) throw new Error(`Not an address of the tool: ${action}`);
      session = await tool.createSession(await tool.verifyLaunch(idToken, state));
    },
    launched: () => {
      const { user, context, resourceLink, customParameters: custom } = current();
      return { user: user.id, course: context.id, link: resourceLink?.id ?? null, custom };
    },
    chooseLink: async (title, custom) => {
      const lineItem = { scoreMaximum: 10, label: title };
      const item = { type: 'ltiResourceLink', url: `${url}/lti/launch`, title, custom, lineItem };
      return readResponseForm(await tool.createDeepLinkingResponse(current(), [item]));
    },
    sendScore: (scoreGiven) => {
      const progress = { activityProgress: 'Completed', gradingProgress: 'FullyGraded' };
      const { id: userId } = current().user;
      return tool.submitScore(current(), { userId, scoreGiven, scoreMaximum: 100, ...progress });
    },
    readResults: async () => {
      const results = await tool.getScores(current());
      return Object.fromEntries(results.map(({ userId, resultScore = NaN }) => [userId, resultScore]));
    },
    listLineItems: async () => (await tool.listLineItems(current())).map(({ label }) => label),
    close: () => Promise.resolve(close()),
  };
}

function createKeyPair() {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  };
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** The addresses of the tool that a browser or the platform asks by themselves. */
async function serve(
  tool: LtiTool,
  url: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', url);
  const query = Object.fromEntries(searchParams);
  const form = Object.fromEntries(new URLSearchParams(await text(request)));
  if (pathname === '/lti/jwks') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(await tool.getJWKS()));
  } else if (pathname === '/lti/register') {
    response.end(await tool.initiateDynamicRegistration(query, '/lti/register'));
  } else {
    const launchUrl = `${url}/lti/launch`;
    const location = await tool.handleLogin({ ...query, ...form, launchUrl });
    response.writeHead(302, { location }).end();
  }
}

/** What the library asks of whoever uses it: a store, here in memory. */
function createStorage() {
  const clients = new Map<string, Client>();
  const deployments = new Map<string, string>();
  const registrations = new Map<string, unknown>();
  const nonces = new Set<string>();
  return {
    addClient: (client: Client) => {
      clients.set(client.clientId, client);
      return Promise.resolve(client.clientId);
    },
    addDeployment: (clientId: string, { deploymentId }: { deploymentId: string }) => {
      deployments.set(`${clientId} ${deploymentId}`, clientId);
      return Promise.resolve(deploymentId);
    },
    getLaunchConfig: (iss: string, clientId: string, deploymentId: string) => {
      const client = clients.get(deployments.get(`${clientId} ${deploymentId}`) ?? '');
      return Promise.resolve(client?.iss === iss ? client : undefined);
    },
    addSession: () => Promise.resolve('session'),
    storeNonce: (nonce: string) => Promise.resolve(void nonces.add(nonce)),
    validateNonce: (nonce: string) => Promise.resolve(nonces.delete(nonce)),
    setRegistrationSession: (id: string, session: unknown) =>
      Promise.resolve(void registrations.set(id, session)),
    getRegistrationSession: (id: string) => Promise.resolve(registrations.get(id)),
    deleteRegistrationSession: (id: string) => Promise.resolve(registrations.delete(id)),
  };
}
