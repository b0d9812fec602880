import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { contentType } from 'mime-types';
import requirements from '@cmi5/requirements/requirements.json' with { type: 'json' };
import { serve } from '../support/serve.ts';
import { cmi5Violation, verbOf } from './cmi5-rules.ts';
import type { Session, Statement } from './cmi5-rules.ts';

/*
 * A platform for cmi5: it serves a package and launches it, with a learning record store behind it: statements, state
 * documents with ETags, the agent profile and the fetch URL. It rejects what the requirements of cmi5 forbid, with
 * their ids.
 */

export type Requirement = keyof typeof requirements;

export interface LaunchSettings {
  launchMode?: 'Normal' | 'Browse' | 'Review';
  masteryScore?: number;
  returnUrl?: boolean;
  /** Where the fetch URL redirects to, with the token in the query. */
  fetchRedirect?: string;
  /** The status with which the store answers a request for the learner's state, instead of returning it. */
  stateStatus?: number;
  /** The first request with statements gets a login page with status 200. */
  loginPage?: 'statements' | undefined;
  /** The store answers 401 to requests with a statement of this verb. */
  refusedVerb?: string;
}

export interface Cmi5Platform {
  /** Begins a session and returns its launch URL. */
  launch(registration: string, settings?: LaunchSettings): string;
  /** The accepted statements of a registration, in order. */
  statements(registration: string): Statement[];
  violations: { requirement: Requirement; text: string }[];
  /** The names of all writing requests, in order: `statements` or `state`. */
  writes: string[];
  url: string;
}

const homePage = 'https://platform.example';

/** Starts a platform for the files of a package, until the end of the test. */
export async function startCmi5Platform(files: ReadonlyMap<string, Buffer>): Promise<Cmi5Platform> {
  const sessions = new Map<string, Session>();
  const accepted = new Map<string, Statement[]>();
  const documents = new Map<string, { body: string; etag: string }>();
  const violations: Cmi5Platform['violations'] = [];
  const writes: string[] = [];
  const activityId = `${homePage}/activities/${randomUUID()}`;

  const statementsOf = (registration: string): Statement[] => {
    const list = accepted.get(registration) ?? [];
    accepted.set(registration, list);
    return list;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://platform');
    const send = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      const type = { 'content-type': 'application/json' };
      response.writeHead(status, { ...type, ...headers }).end(JSON.stringify(body));
    };
    const reject = (requirement: Requirement) => {
      violations.push({ requirement, text: requirements[requirement].txt });
      send(403, { violatedReqId: requirement });
    };
    const path = url.pathname;
    if (path.startsWith('/package/')) {
      const name = decodeURIComponent(path.slice('/package/'.length));
      const type = contentType(name.slice(name.lastIndexOf('.') + 1)) || 'text/plain';
      const file = files.get(name);
      return void response.writeHead(file === undefined ? 404 : 200, { 'content-type': type }).end(file);
    }
    if (path === '/return') return void response.writeHead(200, { 'content-type': 'text/html' }).end('Back');
    if (path.startsWith('/fetch/')) return fetchToken(sessions, path, request, { send, reject });
    if (!path.startsWith('/lrs/')) return send(404, {});

    const token = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const session = [...sessions.values()].find((one) => one.token === token && one.isFetched);
    if (session === undefined) return reject('8.2.2.0-5');
    if (path === '/lrs/statements') {
      const given = JSON.parse(await text(request)) as Statement | Statement[];
      writes.push('statements');
      const list = statementsOf(session.registration);
      const stored = list.length;
      const { refusedVerb, loginPage } = session.settings;
      if (loginPage === 'statements') {
        session.settings.loginPage = undefined;
        return void response
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<!doctype html><h1>Log in</h1>');
      }
      if ([given].flat().some((statement) => verbOf(statement) === refusedVerb)) return send(401, {});
      for (const statement of [given].flat()) {
        const known = list.find(({ id }) => id === statement.id);
        // A repeated statement is the same one: xAPI compares all but times.
        if (known !== undefined) continue;
        const violation = cmi5Violation(statement, session, { earlier: list, stored });
        if (violation !== null) return reject(violation as Requirement);
        list.push({ ...statement, session: session.id });
      }
      if (request.method === 'PUT') return void response.writeHead(204).end();
      return send(
        200,
        [given].flat().map(({ id }) => id),
      );
    }
    const query = url.searchParams;
    const isOwnAgent =
      JSON.stringify(JSON.parse(query.get('agent') ?? 'null')) === JSON.stringify(session.actor);
    if (path === '/lrs/agents/profile') {
      if (!isOwnAgent) return reject('11.0.0.0-1');
      if (query.get('profileId') !== 'cmi5LearnerPreferences') return reject('11.0.0.0-4');
      session.hasReadPreferences = true;
      return send(404, {});
    }
    if (path !== '/lrs/activities/state') return send(404, {});
    if (query.get('registration') !== session.registration) return reject('8.1.4.0-3');
    if (!isOwnAgent) return reject('8.1.3.0-3');
    if (query.get('stateId') === 'LMS.LaunchData') {
      if (request.method !== 'GET') return reject('10.2.1.0-5');
      session.hasReadLaunchData = true;
      return send(200, session.launchData);
    }
    const { stateStatus } = session.settings;
    if (request.method !== 'GET') writes.push('state');
    else if (stateStatus !== undefined) return send(stateStatus, {});
    const key = `${session.registration} ${query.get('stateId')}`;
    return handleDocument(documents, request, key, { response, send });
  }

  const url = await serve((request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return {
    url,
    violations,
    writes,
    statements: statementsOf,
    launch(registration, settings = {}) {
      const { launchMode = 'Normal', masteryScore, returnUrl = false } = settings;
      const id = randomUUID();
      const actor = { objectType: 'Agent', name: 'Ann', account: { homePage, name: 'ann' } };
      const contextTemplate = {
        extensions: { 'https://w3id.org/xapi/cmi5/context/extensions/sessionid': id },
        contextActivities: { grouping: [{ id: `${homePage}/course` }] },
      };
      const launchData = {
        ...{ contextTemplate, launchMode, moveOn: 'CompletedOrPassed' },
        ...(masteryScore !== undefined && { masteryScore }),
        ...(returnUrl && { returnURL: `${url}/return` }),
      };
      sessions.set(id, {
        ...{ id, registration, actor, activityId, launchData, settings, token: randomUUID() },
        ...{ isFetched: false, hasReadLaunchData: false, hasReadPreferences: false },
      });
      const query = new URLSearchParams({
        ...{ registration, activityId, actor: JSON.stringify(actor) },
        ...{ fetch: `${url}/fetch/${id}`, endpoint: `${url}/lrs` },
      });
      return `${url}/package/index.html?${query.toString()}`;
    },
  };
}

interface Reply {
  send: (status: number, body: unknown, headers?: Record<string, string>) => void;
  reject: (requirement: Requirement) => void;
}

/** Gives the token of a session once. */
function fetchToken(
  sessions: ReadonlyMap<string, Session>,
  path: string,
  request: IncomingMessage,
  { send, reject }: Reply,
): void {
  const session = sessions.get(path.slice('/fetch/'.length));
  if (request.method !== 'POST') return reject('8.2.1.0-2');
  if (session === undefined || session.isFetched) {
    return send(200, { 'error-code': '1', 'error-text': 'The token was given already' });
  }
  session.isFetched = true;
  const { fetchRedirect } = session.settings;
  if (fetchRedirect !== undefined) {
    return send(
      307,
      {},
      { location: `${fetchRedirect}?${new URLSearchParams({ token: session.token }).toString()}` },
    );
  }
  send(200, { 'auth-token': session.token });
}

/** A state document, which a writer must have read: xAPI 2.0.0 requires `If-Match` or `If-None-Match`. */
async function handleDocument(
  documents: Map<string, { body: string; etag: string }>,
  request: IncomingMessage,
  key: string,
  { response, send }: Pick<Reply, 'send'> & { response: ServerResponse },
): Promise<void> {
  const document = documents.get(key);
  if (request.method === 'GET') {
    if (document === undefined) return send(404, {});
    const headers = { 'content-type': 'application/json', etag: document.etag };
    return void response.writeHead(200, headers).end(document.body);
  }
  const isNew = request.headers['if-none-match'] === '*' && document === undefined;
  if (!isNew && (document === undefined || !['*', document.etag].includes(request.headers['if-match'] ?? '')))
    return send(412, {});
  const body = await text(request);
  const etag = `"${createHash('sha1').update(body).digest('hex')}"`;
  documents.set(key, { body, etag });
  response.writeHead(204, { etag }).end();
}
