// cspell:ignore autopurge -- an option of lru-cache
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { getProxyForUrl } from 'proxy-from-env';
import { buildConnector, Client, Pool, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import { untilAborted } from '../abort-listeners.ts';
import { OutboundError } from '../errors.ts';
import { withoutInterimResponses } from './interim-responses.ts';
import {
  guardConnector,
  hostOf,
  isPublicAddress,
  literalAddress,
  notPublicCode,
  publicOnly,
} from './ssrf-guard.ts';

/** The timeout of an unused connection of HTTP/1.1. */
const idleConnectionMs = 10_000;

/** The time after the last request for which the connections to a host are kept. */
const keptMs = 60_000;

/** The maximum number of hosts whose connections are kept. */
const maxHosts = 200;

/** Concurrent requests over one HTTP/2 connection. Nearly all servers accept as many, as RFC 9113 recommends. */
const maxStreams = 100;

/** Settings of all connections. Callers have timeouts for responses and bodies. */
const clientOptions = {
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: idleConnectionMs,
  keepAliveMaxTimeout: idleConnectionMs,
  // Flow control of HTTP/2. The window of each stream bounds the memory of a slow reader. Node.js counts bytes of the
  // connection as read when they arrive, so the connection's window costs no memory.
  initialWindowSize: 512 * 1024,
  connectionWindowSize: 16 * 1024 ** 2,
};

/**
 * Connections for outbound HTTP/1.1 and HTTP/2, behind the SSRF guard. Two independent checks reject hosts that are not
 * public: one of the resolved addresses before a connection, one of the connected address before a request.
 *
 * HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY choose a forward proxy, which resolves names itself. Lectern then rejects names
 * that resolve to other addresses here, but cannot see the connected address: the proxy must refuse private networks.
 */
export class Connections {
  readonly #allowed: ReadonlySet<string>;
  /** Connects to public addresses only. */
  readonly #toPublic: buildConnector.connector;
  /** Connects to any address. */
  readonly #toAny: buildConnector.connector;
  readonly #lookup: LookupFunction;
  readonly #maxPerHost: number | null;
  /** By URL of the proxy. */
  readonly #proxies = new Map<string, ProxyAgent>();
  /** By owner and origin. */
  readonly #hosts = new LRUCache<string, HostConnections>({
    max: maxHosts,
    ttl: keptMs,
    updateAgeOnGet: true,
    ttlAutopurge: true,
    dispose: ({ pool }) => this.#closeAfterUse(pool),
  });
  /** Connections that get no further requests, until those in progress have ended. */
  readonly #closing = new Set<Dispatcher>();

  /**
   * @param allowedPrivateHosts exempt from the guard: exact `host:port`, as {@link hostOf} returns it.
   * @param maxPerHost the maximum of an owner's kept connections to a host; further requests wait.
   */
  constructor(
    allowedPrivateHosts: readonly string[],
    lookup: LookupFunction = systemLookup,
    maxPerHost: number | null = null,
  ) {
    this.#lookup = lookup;
    this.#maxPerHost = maxPerHost;
    this.#allowed = new Set(allowedPrivateHosts);
    const connectorWith = (name: LookupFunction) =>
      withoutInterimResponses(buildConnector({ allowH2: true, lookup: name }));
    this.#toPublic = guardConnector(connectorWith(publicOnly(lookup)));
    this.#toAny = connectorWith(lookup);
  }

  /**
   * Sends a request on the connections that are kept for an owner. The requests of one owner never wait for those of
   * another.
   *
   * @param signal ends a wait with its reason.
   * @throws {OutboundError} `blocked_address` for another protocol, credentials, or an IP address that is not public. The
   * connection checks host names later.
   */
  async sendKept(url: URL, owner: string, send: Send, signal: AbortSignal): Promise<void> {
    const proxy = await this.#proxyFor(url);
    if (proxy !== null) return send(proxy);
    const connect = this.#connectorFor(url);
    const key = `${owner} ${url.origin}`;
    const host = this.#hosts.get(key) ?? new HostConnections(url, connect, this.#maxPerHost);
    if (!this.#hosts.has(key)) this.#hosts.set(key, host);
    await host.send(send, signal);
  }

  /**
   * Sends one request on a new connection: the server may be closing a kept one. A proxy keeps its own connections.
   *
   * @throws {OutboundError} as {@link sendKept}.
   */
  async sendOnce(url: URL, send: Send): Promise<void> {
    const proxy = await this.#proxyFor(url);
    if (proxy !== null) return send(proxy);
    const client = new Client(url.origin, { ...clientOptions, connect: this.#connectorFor(url) });
    const sent = send(client);
    this.#closeAfterUse(client);
    return sent;
  }

  /**
   * Returns the connections to the proxy of a URL; null without one.
   *
   * @throws {OutboundError} as {@link sendKept}, also for a name that resolves to an address that is not public.
   */
  async #proxyFor(url: URL): Promise<ProxyAgent | null> {
    const uri = getProxyForUrl(url.href);
    if (uri === '') return null;
    if (!this.#isExempt(url) && literalAddress(url) === null) await this.#rejectPrivateName(url);
    const kept = this.#proxies.get(uri);
    if (kept !== undefined) return kept;
    const { headersTimeout, bodyTimeout, keepAliveTimeout, keepAliveMaxTimeout } = clientOptions;
    const timeouts = { headersTimeout, bodyTimeout, keepAliveTimeout, keepAliveMaxTimeout };
    const settings = { ...timeouts, proxyTunnel: false, connections: this.#maxPerHost, factory: proxiedPool };
    const proxy = new ProxyAgent({ uri, ...settings });
    this.#proxies.set(uri, proxy);
    return proxy;
  }

  /** A network with a proxy may resolve no foreign names, so a failed lookup rejects nothing. */
  async #rejectPrivateName(url: URL): Promise<void> {
    const code = await new Promise((resolve) => {
      publicOnly(this.#lookup)(url.hostname, { all: true }, (error) => resolve(error?.code));
    });
    if (code !== notPublicCode) return;
    throw new OutboundError('blocked_address', `${hostOf(url)} is not a public address`);
  }

  #connectorFor(url: URL): buildConnector.connector {
    return this.#isExempt(url) ? this.#toAny : this.#toPublic;
  }

  #isExempt(url: URL): boolean {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new OutboundError('blocked_address', `Only http and https are fetched, not ${url.protocol}`);
    }
    if (url.username !== '' || url.password !== '') {
      throw new OutboundError('blocked_address', 'A URL with credentials is not fetched');
    }
    const host = hostOf(url);
    if (this.#allowed.has(host)) return true;
    const address = literalAddress(url);
    if (address !== null && !isPublicAddress(address)) {
      throw new OutboundError('blocked_address', `${host} is not a public address`);
    }
    return false;
  }

  #closeAfterUse(dispatcher: Dispatcher): void {
    this.#closing.add(dispatcher);
    const forget = () => this.#closing.delete(dispatcher);
    // One that `close` has destroyed rejects.
    dispatcher.close().then(forget, forget);
  }

  /** Closes all connections, including those in use. */
  close(): void {
    const pools = [...this.#hosts.values()].map(({ pool }) => pool);
    for (const dispatcher of [...pools, ...this.#closing, ...this.#proxies.values()])
      void dispatcher.destroy();
    this.#hosts.clear();
  }
}

/** Sends a request; resolves when it has a response, and rejects without one. */
type Send = (dispatcher: Dispatcher) => Promise<void>;

/** The connections to one host: undici's pool, in which the requests beyond its limit wait. */
class HostConnections {
  readonly pool: Pool;
  /** Whether a connection may turn out to be of HTTP/2. */
  readonly #negotiates: boolean;
  /** Settles when the first connection is open, or has failed. */
  #opening: Promise<unknown> | null = null;

  constructor(url: URL, connect: buildConnector.connector, maxConnections: number | null) {
    this.#negotiates = url.protocol === 'https:';
    this.pool = new Pool(url.origin, {
      connections: maxConnections,
      factory: (origin) => createClient(origin, connect),
    });
  }

  /**
   * Sends a request. While no connection is open, the first request goes alone: it shows whether the others can share
   * its connection.
   */
  async send(send: Send, signal: AbortSignal): Promise<void> {
    if (this.#negotiates && this.pool.stats.connected === 0) {
      if (this.#opening === null) return this.#sendFirst(send);
      await untilAborted(this.#opening, signal);
    }
    return send(this.pool);
  }

  #sendFirst(send: Send): Promise<void> {
    const connected = new Promise((resolve) => this.pool.once('connect', resolve));
    const sent = send(this.pool);
    this.#opening = Promise.race([connected, sent.catch(() => undefined)]).then(() => (this.#opening = null));
    return sent;
  }
}

function createClient(origin: URL, connect: buildConnector.connector): Client {
  const client = new Client(origin, {
    ...clientOptions,
    connect: (target, callback) => {
      connect(target, (...result) => {
        const [error, socket] = result;
        // By default, undici 7 sends one request at a time, over HTTP/2 too.
        if (error === null) client.pipelining = isHttp2(socket) ? maxStreams : 1;
        callback(...result);
      });
    },
  });
  // The pool forgets such a client, in which requests may still wait.
  client.on('connectionError', () => queueMicrotask(() => void client.close().catch(() => undefined)));
  return client;
}

function isHttp2(socket: object): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}

/** Makes the connections of a proxy. */
function proxiedPool(origin: string | URL, options: object): Pool {
  const { connect } = options as { connect: buildConnector.connector };
  return new Pool(origin, { ...options, connect: withoutInterimResponses(connect) });
}
