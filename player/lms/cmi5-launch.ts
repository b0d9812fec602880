import { recordOf } from '../../shared/lessons/json-values.ts';
import { isWebPage } from '../../shared/platform/http/web-page.ts';
import { abortAfter } from '../older-browsers.ts';

/* The launch of a cmi5 assignable unit: cmi5 (Quartz), sections 8, 10 and 11. */

/** The parameters in the platform's launch URL. */
export interface LaunchParameters {
  /** The URL of the learning record store, with a slash at the end. */
  endpoint: string;
  /** The URL that returns the token, once. */
  fetchUrl: string;
  /** An Agent, used as it is. */
  actor: Record<string, unknown>;
  registration: string;
  activityId: string;
}

/** The platform's data for the session, from the state document LMS.LaunchData. */
export interface LaunchData {
  contextTemplate: Record<string, unknown>;
  launchMode: 'Normal' | 'Browse' | 'Review';
  /** From 0 to 1; null for none. */
  masteryScore: number | null;
  returnUrl: string | null;
}

/** A session in this tab. A page that was discarded or has crashed continues it: the platform gives a token only once. */
export interface StoredSession {
  token: string;
  startedAt: number;
  isInitialized: boolean;
  isTerminated: boolean;
}

const requestTimeoutMs = 30_000;
const xapiVersion = '1.0.3';
/** Browsers allow 64 KiB in all such requests at once. */
const maxKeepaliveCharacters = 40_000;

/** Returns the parameters of a launch; null for a page that no platform has launched. */
export function readLaunch(search: string): LaunchParameters | null {
  const query = new URLSearchParams(search);
  const [endpoint, fetchUrl, actor, registration, activityId] = [
    'endpoint',
    'fetch',
    'actor',
    'registration',
    'activityId',
  ].map((name) => query.get(name));
  if (!endpoint || !fetchUrl || !actor || !registration || !activityId) return null;
  try {
    const agent = recordOf(JSON.parse(actor));
    return { endpoint: endpoint.replace(/\/*$/, '/'), fetchUrl, actor: agent, registration, activityId };
  } catch {
    return null;
  }
}

/** Requests to the learning record store of a launch. */
export class Lrs {
  readonly #launch: LaunchParameters;
  readonly #token: string;

  constructor(launch: LaunchParameters, token: string) {
    this.#launch = launch;
    this.#token = token;
  }

  /**
   * Sends a request, which the browser finishes even if the page is closed, unless it is too long for that.
   *
   * @throws for a web page, such as that of a login, which some platforms return with status 200
   */
  async request(
    path: string,
    options: {
      method?: string;
      query?: Record<string, string>;
      body?: unknown;
      headers?: Record<string, string>;
    } = {},
  ): Promise<Response> {
    const { method = 'GET', query = {}, body, headers = {} } = options;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const url = new URL(path, this.#launch.endpoint);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const response = await fetch(url, {
      method,
      headers: {
        Authorization: `Basic ${this.#token}`,
        'X-Experience-API-Version': xapiVersion,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: text,
      keepalive: (text?.length ?? 0) < maxKeepaliveCharacters,
      cache: 'no-store',
      signal: abortAfter(requestTimeoutMs),
    });
    const contentType = response.headers.get('Content-Type');
    if (response.ok && isWebPage({ contentType, text: await response.clone().text() }))
      throw new Error('The store returned a web page');
    return response;
  }

  /** Requests a state document of this registration. */
  state(
    stateId: string,
    options: Omit<Parameters<Lrs['request']>[1] & object, 'query'> = {},
  ): Promise<Response> {
    const { activityId, actor, registration } = this.#launch;
    const query = { stateId, activityId, agent: JSON.stringify(actor), registration };
    return this.request('activities/state', { ...options, query });
  }

  /** Reads the platform's data for the session. @throws when it cannot be read */
  async launchData(): Promise<LaunchData> {
    const response = await this.state('LMS.LaunchData');
    if (!response.ok) throw new Error(`LMS.LaunchData returned status ${response.status}`);
    const { contextTemplate, launchMode, masteryScore, returnURL } = recordOf(await response.json());
    return {
      contextTemplate: recordOf(contextTemplate),
      launchMode: launchMode === 'Browse' || launchMode === 'Review' ? launchMode : 'Normal',
      masteryScore: typeof masteryScore === 'number' ? masteryScore : null,
      returnUrl: typeof returnURL === 'string' && /^https?:/i.test(returnURL) ? returnURL : null,
    };
  }

  /** Reads the learner's preferences, as every assignable unit must before its first statement. */
  async learnerPreferences(): Promise<{ languages: string[]; isMuted: boolean }> {
    const query = { profileId: 'cmi5LearnerPreferences', agent: JSON.stringify(this.#launch.actor) };
    const response = await this.request('agents/profile', { query }).catch(() => null);
    const preferences: unknown = response?.ok === true ? await response.json().catch(() => null) : null;
    const { languagePreference, audioPreference } = recordOf(preferences);
    const languages = typeof languagePreference === 'string' ? languagePreference.split(',') : [];
    return { languages: languages.map((tag) => tag.trim()), isMuted: audioPreference === 'off' };
  }
}

/** Returns the session of this tab; otherwise begins one. @throws when the platform gives no token */
export async function openSession({ fetchUrl }: LaunchParameters): Promise<StoredSession> {
  const stored = readSession(fetchUrl);
  if (stored !== null) return stored;
  const response = await fetch(fetchUrl, { method: 'POST', signal: abortAfter(requestTimeoutMs) });
  const { 'auth-token': token, 'error-text': reason } = recordOf(await response.json());
  if (typeof token !== 'string') throw new Error(`The platform gave no token: ${String(reason)}`);
  const session = { token, startedAt: Date.now(), isInitialized: false, isTerminated: false };
  storeSession(fetchUrl, session);
  return session;
}

export function storeSession(fetchUrl: string, session: StoredSession): void {
  try {
    sessionStorage.setItem(keyOf(fetchUrl), JSON.stringify(session));
  } catch {
    // Without storage, a reload cannot continue the session.
  }
}

function readSession(fetchUrl: string): StoredSession | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(fetchUrl)) ?? 'null') as StoredSession | null;
  } catch {
    return null;
  }
}

function keyOf(fetchUrl: string): string {
  return `lectern:cmi5:${fetchUrl}`;
}
