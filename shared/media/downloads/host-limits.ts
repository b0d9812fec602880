import { LRUCache } from 'lru-cache';

/** Concurrent requests to a host about which nothing is known: as many as browsers send over HTTP/1.1. */
const firstLimit = 6;

/** The same over a shared connection of HTTP/2, where a request needs no connection. Browsers send 100. */
const firstSharedLimit = 16;

/** A host is fast enough while it responds within twice its best time, plus a tolerance for network jitter. */
const toleratedFactor = 2;
const toleratedMs = 20;

/** The maximum number of remembered hosts of organizations, and how long after their last request. */
const maxRemembered = 10_000;
const rememberedMs = 600_000;

/** The host and organization whose limits a request counts toward. */
export interface SlotOwner {
  host: string;
  organizationId: string;
}

interface HostLimit {
  limit: number;
  /** The shortest time to a response. */
  bestMs: number;
  /** Responses without delay since the limit last changed. */
  fastResponses: number;
  /** Whether the host has failed before: the limit then grows slowly. */
  hasFailed: boolean;
  /** When the limit last shrank, by performance.now(). */
  shrunkAt: number;
}

/**
 * Adapts how many requests an organization sends to a host at once. The limit grows while the host responds as quickly
 * as before: by one for each response at first, later by one for as many responses as the limit. It halves when the host
 * rejects requests or fails, at most once for the requests of that time.
 *
 * Each organization has its own limit, so that the failures of one organization's URLs do not slow others down.
 */
export class HostLimits {
  readonly #max: number;
  readonly #sharedMax: (host: string) => number | null;
  readonly #limits = new LRUCache<string, HostLimit>({ max: maxRemembered, ttl: rememberedMs });

  /**
   * @param max the highest limit.
   * @param sharedMax returns the highest limit of a host whose requests share one connection; null for other hosts.
   */
  constructor(max: number, sharedMax: (host: string) => number | null = () => null) {
    this.#max = max;
    this.#sharedMax = sharedMax;
  }

  of(owner: SlotOwner): number {
    return this.#limits.get(keyOf(owner))?.limit ?? this.#first(owner.host);
  }

  /**
   * Counts a response.
   *
   * @param responseMs the time from the request to the response's headers.
   * @param concurrent the organization's requests to the host, this one included: an unused limit does not grow.
   */
  succeeded(owner: SlotOwner, { responseMs, concurrent }: { responseMs: number; concurrent: number }): void {
    const host = this.#find(owner);
    host.bestMs = Math.min(host.bestMs, responseMs);
    if (responseMs > host.bestMs * toleratedFactor + toleratedMs) {
      host.fastResponses = 0;
      return;
    }
    if (concurrent < host.limit) return;
    host.fastResponses += 1;
    if (host.fastResponses < (host.hasFailed ? host.limit : 1)) return;
    host.limit = Math.min(host.limit + 1, this.#sharedMax(owner.host) ?? this.#max);
    host.fastResponses = 0;
  }

  /** Counts a rejected or failed request, which began at a time by performance.now(). */
  failed(owner: SlotOwner, beganAt: number): void {
    const host = this.#find(owner);
    if (beganAt < host.shrunkAt) return;
    host.limit = Math.max(1, Math.floor(host.limit / 2));
    host.fastResponses = 0;
    host.hasFailed = true;
    host.shrunkAt = performance.now();
  }

  #first(host: string): number {
    const sharedMax = this.#sharedMax(host);
    return sharedMax === null ? Math.min(firstLimit, this.#max) : Math.min(firstSharedLimit, sharedMax);
  }

  #find(owner: SlotOwner): HostLimit {
    const key = keyOf(owner);
    const known = this.#limits.get(key);
    const host = known ?? {
      limit: this.#first(owner.host),
      bestMs: Infinity,
      fastResponses: 0,
      hasFailed: false,
      shrunkAt: -Infinity,
    };
    // Also extends the time for which it is remembered.
    this.#limits.set(key, host);
    return host;
  }
}

function keyOf({ host, organizationId }: SlotOwner): string {
  return `${organizationId} ${host}`;
}
