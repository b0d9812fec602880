import { lookup as systemLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { hostOf, isPublicAddress, literalAddress, publicOnly } from './ssrf-guard.ts';
import { OutboundError } from './failure.ts';

/** The timeout of an unused connection. */
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
 * Connections for outbound HTTP, behind the SSRF guard. Two independent checks reject hosts that are not public:
 * ssrf-guard.ts and request-filtering-agent.
 */
export class Connections {
  readonly #allowed: ReadonlySet<string>;
  readonly #keptAlive: Agents;
  readonly #fresh: Agents;

  /** @param allowedPrivateHosts exempt from the guard: exact `host:port`, as {@link hostOf} returns it. */
  constructor(allowedPrivateHosts: readonly string[], lookup: LookupFunction = systemLookup) {
    this.#allowed = new Set(allowedPrivateHosts);
    this.#keptAlive = createAgents(lookup, true);
    this.#fresh = createAgents(lookup, false);
  }

  /**
   * Returns the agent for a URL. The agent checks host names later, when it connects.
   *
   * @param fresh opens a connection for each request: the server may be closing a kept one.
   * @throws {OutboundError} `blocked_address` for another protocol, credentials, or an IP address that is not public.
   */
  agentFor(url: URL, fresh: boolean): http.Agent {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new OutboundError('blocked_address', `Only http and https are fetched, not ${url.protocol}`);
    }
    if (url.username !== '' || url.password !== '') {
      throw new OutboundError('blocked_address', 'A URL with credentials is not fetched');
    }
    const agents = fresh ? this.#fresh : this.#keptAlive;
    const kind = url.protocol === 'https:' ? 'https' : 'http';
    const host = hostOf(url);
    if (this.#allowed.has(host)) return agents.any[kind];
    const address = literalAddress(url);
    if (address !== null && !isPublicAddress(address)) {
      throw new OutboundError('blocked_address', `${host} is not a public address`);
    }
    return agents.public[kind];
  }

  /** Closes all connections, including those in use. */
  close(): void {
    for (const agents of [this.#keptAlive, this.#fresh]) {
      for (const { http, https } of [agents.public, agents.any]) {
        http.destroy();
        https.destroy();
      }
    }
  }
}
