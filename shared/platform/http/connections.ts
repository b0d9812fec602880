import { lookup as systemLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { hostOf, isPublicAddress, literalAddress, publicOnly } from './ssrf-guard.ts';
import { OutboundError } from './failure.ts';

/** How long a connection may lie unused before it is closed, in milliseconds. */
const idleSocketMs = 10_000;

interface Agents {
  /** Connect to public addresses only. */
  public: { http: http.Agent; https: https.Agent };
  /** Connect to any address. */
  any: { http: http.Agent; https: https.Agent };
}

function createAgents(lookup: LookupFunction, keepAlive: boolean): Agents {
  const options = { keepAlive, timeout: idleSocketMs, lookup };
  const guarded = { ...options, lookup: publicOnly(lookup) };
  return {
    public: { http: new RequestFilteringHttpAgent(guarded), https: new RequestFilteringHttpsAgent(guarded) },
    any: { http: new http.Agent(options), https: new https.Agent(options) },
  };
}

/**
 * The connections to foreign hosts, and the say over which host may be connected to. Two walls stand between a URL
 * and a host that is not public: the rules of addresses.ts, and those of request-filtering-agent.
 */
export class Connections {
  readonly #allowed: ReadonlySet<string>;
  readonly #kept: Agents;
  readonly #fresh: Agents;

  /** `allowedPrivateHosts` are exempt: exact `host:port`, as {@link hostOf} writes it. */
  constructor(allowedPrivateHosts: readonly string[], lookup: LookupFunction = systemLookup) {
    this.#allowed = new Set(allowedPrivateHosts);
    this.#kept = createAgents(lookup, true);
    this.#fresh = createAgents(lookup, false);
  }

  /**
   * The agent that may request this URL. Names are judged later, when it connects. A `fresh` one makes a connection
   * for each request instead of using a kept one, which the server may just have given up.
   *
   * @throws {OutboundError} `blocked_address` for a protocol other than http and https, credentials, or an address
   *   that is not public.
   */
  agentFor(url: URL, fresh: boolean): http.Agent {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new OutboundError('blocked_address', `Only http and https are fetched, not ${url.protocol}`);
    }
    if (url.username !== '' || url.password !== '') {
      throw new OutboundError('blocked_address', 'A URL with credentials is not fetched');
    }
    const agents = fresh ? this.#fresh : this.#kept;
    const kind = url.protocol === 'https:' ? 'https' : 'http';
    const host = hostOf(url);
    if (this.#allowed.has(host)) return agents.any[kind];
    const address = literalAddress(url);
    if (address !== null && !isPublicAddress(address)) {
      throw new OutboundError('blocked_address', `${host} is not a public address`);
    }
    return agents.public[kind];
  }

  /** Closes every connection, those in use too. */
  close(): void {
    for (const agents of [this.#kept, this.#fresh]) {
      for (const { http, https } of [agents.public, agents.any]) {
        http.destroy();
        https.destroy();
      }
    }
  }
}
