import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { getProxyForUrl } from 'proxy-from-env';
import { buildConnector, Client, errors, Pool, ProxyAgent } from 'undici';
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

/** The timeout of an unused connection. */
const idleConnectionMs = 10_000;

/** Concurrent requests over one HTTP/2 connection. Callers limit the requests to a host themselves. */
const maxStreams = 256;

/**
 * Flow control of HTTP/2: the bytes that a host may send before they are read. The window of each stream bounds the
 * memory of a slow reader. Node.js counts bytes of the connection as read when they arrive, so the connection's window
 * costs no memory: it only has to be large enough for fast and distant hosts.
 */
const streamWindowBytes = 512 * 1024;
const connectionWindowBytes = 16 * 1024 ** 2;

/**
 * The requests over one HTTP/2 connection, before the next ones get another. nginx closes it at a thousand, and undici
 * then fails all requests in progress.
 */
const maxSharedRequests = 700;

/** The maximum number of hosts whose protocol is remembered. */
const maxKnownHosts = 1_000;

/** The maximum number of origins whose connections are kept. */
const maxPools = 200;

type Protocol = 'http/1.1' | 'h2';

interface RequestConnection {
  dispatcher: Dispatcher;
  /** Call it when the request has a response, or has failed. */
  requestEnded: () => void;
}

interface SharedConnection {
  pool: Pool;
  socket: Socket;
  /** The number of requests so far. */
  requests: number;
  /** Returns the number of streams that the host accepts at once. */
  acceptedStreams: () => number;
}

/** Settings of all connections. Callers have timeouts for responses and bodies. */
const clientOptions = {
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: idleConnectionMs,
  keepAliveMaxTimeout: idleConnectionMs,
  initialWindowSize: streamWindowBytes,
  connectionWindowSize: connectionWindowBytes,
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
  /**
   * By origin. undici's Agent would close a pool with its last connection while requests wait in it, and open a second
   * one for the next requests.
   */
  readonly #kept = new LRUCache<string, Pool>({
    max: maxPools,
    dispose: (pool) => this.#closeAfterUse(pool),
  });
  /** Connections that get no further requests, until those in progress have ended. */
  readonly #closing = new Set<Dispatcher>();
  /** By host, for hosts with TLS. */
  readonly #protocols = new LRUCache<string, Protocol>({ max: maxKnownHosts });
  /** The HTTP/2 connections, by host, until they are closed. */
  readonly #shared = new Map<string, SharedConnection>();
  /** The connections to hosts that are being opened, and may become shared; each is resolved when it is open or has failed. */
  readonly #opening = new Map<string, { opened: Promise<void>; settle: () => void }>();

  /**
   * @param allowedPrivateHosts exempt from the guard: exact `host:port`, as {@link hostOf} returns it.
   * @param maxPerHost the maximum of kept connections to a host, even after it stops accepting HTTP/2; further requests wait.
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
   * Returns the kept connections to a URL's host. Requests over HTTP/2 share one connection, so requests to a host wait
   * until it is open, or another protocol is known.
   *
   * @param signal ends the wait with its reason.
   * @throws {OutboundError} `blocked_address` for another protocol, credentials, or an IP address that is not public. The
   * connection checks host names later.
   */
  async keptFor(url: URL, signal: AbortSignal): Promise<RequestConnection> {
    const proxy = await this.#proxyFor(url);
    if (proxy !== null) return proxy;
    const host = hostOf(url);
    const shared = this.#shared.get(host);
    if (url.protocol === 'https:' && shared !== undefined && ++shared.requests > maxSharedRequests) {
      this.#kept.delete(url.origin);
      this.#shared.delete(host);
    }
    const dispatcher = this.#poolOf(url);
    // A socket is destroyed some time before it is closed, and undici would open a connection for each request. It would
    // do so too if the connection belonged to an earlier pool.
    const isOpen = shared?.pool === dispatcher && !shared.socket.destroyed;
    const isReady = isOpen || this.#protocols.get(host) === 'http/1.1';
    if (url.protocol === 'http:' || isReady) return { dispatcher, requestEnded: () => undefined };
    const opening = this.#opening.get(host);
    if (opening === undefined) return { dispatcher, requestEnded: this.#startOpening(host) };
    await untilAborted(opening.opened, signal);
    // Other hosts may have displaced the pool during the wait, and a closed pool rejects requests.
    return { dispatcher: this.#poolOf(url), requestEnded: () => undefined };
  }

  /** Makes other requests to a host wait for its connection. Returns a function that ends their wait. */
  #startOpening(host: string): () => void {
    let settle: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (settle = resolve));
    const opening = { opened, settle };
    this.#opening.set(host, opening);
    return () => {
      settle();
      if (this.#opening.get(host) === opening) this.#opening.delete(host);
    };
  }

  /**
   * Returns how many requests a host accepts at once over its HTTP/2 connection, at least 1; Infinity if it has not
   * said; null if its last connection was HTTP/1.1, or there was none.
   *
   * @param host as {@link hostOf} returns it.
   */
  streamsOf(host: string): number | null {
    if (this.#protocols.get(host) !== 'h2') return null;
    return Math.max(1, this.#shared.get(host)?.acceptedStreams() ?? Infinity);
  }

  /**
   * Returns a new connection for one request: the server may be closing a kept one. A proxy keeps its own connections.
   *
   * @throws {OutboundError} as {@link keptFor}.
   */
  async newFor(url: URL): Promise<RequestConnection> {
    const proxy = await this.#proxyFor(url);
    if (proxy !== null) return proxy;
    const connect = this.#isExempt(url) ? this.#toAny : this.#toPublic;
    const client = new Client(url.origin, { ...clientOptions, connect });
    this.#closing.add(client);
    // It closes after the body.
    return { dispatcher: client, requestEnded: () => this.#closeAfterUse(client) };
  }

  /**
   * Returns the connections to the proxy of a URL; null without one.
   *
   * @throws {OutboundError} as {@link keptFor}, also for a name that resolves to an address that is not public.
   */
  async #proxyFor(url: URL): Promise<RequestConnection | null> {
    const uri = getProxyForUrl(url.href);
    if (uri === '') return null;
    if (!this.#isExempt(url) && literalAddress(url) === null) await this.#rejectPrivateName(url);
    const kept = this.#proxies.get(uri);
    const { headersTimeout, bodyTimeout, keepAliveTimeout, keepAliveMaxTimeout } = clientOptions;
    const timeouts = { headersTimeout, bodyTimeout, keepAliveTimeout, keepAliveMaxTimeout };
    const settings = { ...timeouts, proxyTunnel: false, connections: this.#maxPerHost, factory: proxiedPool };
    const dispatcher = kept ?? new ProxyAgent({ uri, ...settings });
    this.#proxies.set(uri, dispatcher);
    return { dispatcher, requestEnded: () => undefined };
  }

  /** A network with a proxy may resolve no foreign names, so a failed lookup rejects nothing. */
  async #rejectPrivateName(url: URL): Promise<void> {
    const code = await new Promise((resolve) => {
      publicOnly(this.#lookup)(url.hostname, { all: true }, (error) => resolve(error?.code));
    });
    if (code !== notPublicCode) return;
    throw new OutboundError('blocked_address', `${hostOf(url)} is not a public address`);
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

  #poolOf(url: URL): Pool {
    const connect = this.#isExempt(url) ? this.#toAny : this.#toPublic;
    const kept = this.#kept.get(url.origin);
    if (kept !== undefined) return kept;
    const createClient = (origin: URL): Client => {
      const client = new Client(origin, {
        ...clientOptions,
        // undici limits HTTP/2 streams by this setting too. Over HTTP/1.1, a slow response would delay the next ones.
        pipelining:
          origin.protocol === 'https:' && this.#protocols.get(hostOf(origin)) === 'h2' ? maxStreams : 1,
        connect: (target, callback) => {
          connect(target, (...result) => {
            const [error, socket] = result;
            if (error === null) this.#opened(origin, { pool, client, socket });
            callback(...result);
          });
        },
      });
      return client;
    };
    const pool = new Pool(url.origin, { factory: createClient, connections: this.#maxPerHost });
    this.#kept.set(url.origin, pool);
    return pool;
  }

  #opened(origin: URL, { pool, client, socket }: { pool: Pool; client: Client; socket: Socket }): void {
    const host = hostOf(origin);
    const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    client.pipelining = isHttp2 ? maxStreams : 1;
    if (isHttp2) {
      closeWhenIdle(client, socket);
      const shared: SharedConnection = {
        pool,
        socket,
        requests: 0,
        acceptedStreams: announcedStreams(client),
      };
      this.#shared.set(host, shared);
      socket.once('close', () => {
        if (this.#shared.get(host) === shared) this.#shared.delete(host);
      });
    }
    // A connection without TLS says nothing about one with TLS, which may have the same host and port.
    if (origin.protocol === 'http:') return;
    this.#protocols.set(host, isHttp2 ? 'h2' : 'http/1.1');
    this.#opening.get(host)?.settle();
    this.#opening.delete(host);
  }

  #closeAfterUse(dispatcher: Dispatcher): void {
    this.#closing.add(dispatcher);
    const forget = () => this.#closing.delete(dispatcher);
    // One that `close` has destroyed rejects.
    dispatcher.close().then(forget, forget);
  }

  /** Closes all connections, including those in use. */
  close(): void {
    const all = [...this.#kept.values(), ...this.#closing, ...this.#proxies.values()];
    for (const dispatcher of all) void dispatcher.destroy();
  }
}

/** Makes the connections of a proxy. */
function proxiedPool(origin: string | URL, options: object): Pool {
  const { connect } = options as { connect: buildConnector.connector };
  return new Pool(origin, { ...options, connect: withoutInterimResponses(connect) });
}

/**
 * Returns a function that reads the host's SETTINGS_MAX_CONCURRENT_STREAMS. undici keeps it under a symbol and has no
 * public property for it. nghttp2 never opens more streams, but requests that wait for one would use up their timeouts.
 */
function announcedStreams(client: Client): () => number {
  const key = Object.getOwnPropertySymbols(client).find(
    ({ description }) => description === 'max concurrent streams',
  );
  const read = client as unknown as Record<symbol, number>;
  return () => (key === undefined ? undefined : read[key]) ?? Infinity;
}

/** undici closes unused connections of HTTP/1.1 only. */
function closeWhenIdle(client: Client, socket: Socket): void {
  let idleChecks = 0;
  const timer = setInterval(() => {
    idleChecks = client.stats.size === 0 ? idleChecks + 1 : 0;
    // With an error, because undici 7.30 throws for a connection that closes without one. A new request reconnects.
    if (idleChecks === 2) socket.destroy(new errors.InformationalError('unused'));
  }, idleConnectionMs / 2).unref();
  socket.once('close', () => clearInterval(timer));
}
