import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, Client, errors, Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { onAbort } from '../abort-listeners.ts';
import { OutboundError } from '../errors.ts';
import { guardConnector, hostOf, isPublicAddress, literalAddress, publicOnly } from './ssrf-guard.ts';

/** The timeout of an unused connection. */
const idleConnectionMs = 10_000;

/** Concurrent requests over one HTTP/2 connection. Callers limit the requests to a host themselves. */
const maxStreams = 256;

/** The maximum number of origins whose protocol is remembered. */
const maxKnownOrigins = 1_000;

type Protocol = 'http/1.1' | 'h2';

/** Settings of all connections. Callers have timeouts for responses and bodies. */
const clientOptions = {
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: idleConnectionMs,
  keepAliveMaxTimeout: idleConnectionMs,
};

/**
 * Connections for outbound HTTP/1.1 and HTTP/2, behind the SSRF guard. Two independent checks reject hosts that are not
 * public: one of the resolved addresses before a connection, one of the connected address before a request.
 */
export class Connections {
  readonly #allowed: ReadonlySet<string>;
  /** Connects to public addresses only. */
  readonly #toPublic: buildConnector.connector;
  /** Connects to any address. */
  readonly #toAny: buildConnector.connector;
  readonly #kept: { public: Agent; any: Agent };
  /** New connections that are in use. */
  readonly #new = new Set<Dispatcher>();
  /** By origin, for origins with TLS. */
  readonly #protocols = new LRUCache<string, Protocol>({ max: maxKnownOrigins });
  /** The first connections to origins whose protocol is unknown; each is resolved when it is open or has failed. */
  readonly #opening = new Map<string, { opened: Promise<void>; settle: () => void }>();

  /** @param allowedPrivateHosts exempt from the guard: exact `host:port`, as {@link hostOf} returns it. */
  constructor(allowedPrivateHosts: readonly string[], lookup: LookupFunction = systemLookup) {
    this.#allowed = new Set(allowedPrivateHosts);
    this.#toPublic = guardConnector(buildConnector({ allowH2: true, lookup: publicOnly(lookup) }));
    this.#toAny = buildConnector({ allowH2: true, lookup });
    this.#kept = { public: this.#createAgent(this.#toPublic), any: this.#createAgent(this.#toAny) };
  }

  /**
   * Returns the kept connections to a URL's host. Requests over HTTP/2 share one connection, so requests to an origin
   * wait until its first connection shows its protocol.
   *
   * @param signal ends the wait with its reason.
   * @throws {OutboundError} `blocked_address` for another protocol, credentials, or an IP address that is not public. The
   * connection checks host names later.
   */
  async keptFor(url: URL, signal: AbortSignal): Promise<Dispatcher> {
    const agent = this.#isExempt(url) ? this.#kept.any : this.#kept.public;
    const { origin } = url;
    if (url.protocol === 'http:' || this.#protocols.has(origin)) return agent;
    const opening = this.#opening.get(origin);
    if (opening === undefined) {
      let settle: () => void = () => undefined;
      const opened = new Promise<void>((resolve) => (settle = resolve));
      this.#opening.set(origin, { opened, settle });
    } else {
      await new Promise<void>((resolve, reject) => {
        const stopListening = onAbort(signal, () => reject(signal.reason as Error));
        void opening.opened.then(stopListening).then(resolve);
      });
    }
    return agent;
  }

  /** Releases the requests that wait for the first request to an origin, which has a response or has failed. */
  firstRequestEnded({ origin }: URL): void {
    this.#opening.get(origin)?.settle();
    this.#opening.delete(origin);
  }

  /**
   * Returns a new connection for one request: the server may be closing a kept one. The caller then calls
   * {@link closeAfterResponse}.
   *
   * @throws {OutboundError} as {@link keptFor}.
   */
  newFor(url: URL): Dispatcher {
    const connect = this.#isExempt(url) ? this.#toAny : this.#toPublic;
    const client = new Client(url.origin, { ...clientOptions, connect });
    this.#new.add(client);
    return client;
  }

  closeAfterResponse(client: Dispatcher): void {
    void client.close().finally(() => this.#new.delete(client));
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

  #createAgent(connect: buildConnector.connector): Agent {
    const createClient = (origin: URL): Client => {
      const client = new Client(origin, {
        ...clientOptions,
        // undici limits HTTP/2 streams by this setting too. Over HTTP/1.1, a slow response would delay the next ones.
        pipelining: this.#protocols.get(origin.origin) === 'h2' ? maxStreams : 1,
        connect: (target, callback) => {
          connect(target, (...result) => {
            const [error, socket] = result;
            if (error === null) this.#opened(origin, client, socket);
            callback(...result);
          });
        },
      });
      return client;
    };
    return new Agent({ factory: (origin) => new Pool(origin, { factory: createClient }) });
  }

  #opened({ origin, protocol }: URL, client: Client, socket: Socket): void {
    const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    client.pipelining = isHttp2 ? maxStreams : 1;
    if (isHttp2) closeWhenIdle(client, socket);
    if (protocol === 'https:') this.#protocols.set(origin, isHttp2 ? 'h2' : 'http/1.1');
    this.#opening.get(origin)?.settle();
    this.#opening.delete(origin);
  }

  /** Closes all connections, including those in use. */
  close(): void {
    for (const dispatcher of [this.#kept.public, this.#kept.any, ...this.#new]) void dispatcher.destroy();
  }
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
