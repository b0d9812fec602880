import { onAbort } from '../../platform/abort-listeners.ts';
import { HostLimits } from './host-limits.ts';
import type { SlotOwner } from './host-limits.ts';

export interface SlotLimits {
  /**
   * The maximum of concurrent requests to one host, each over a separate connection. Each organization's own limit
   * adapts below it ({@link HostLimits}).
   */
  perHost: number;
  /**
   * Returns the maximum for a host whose requests share one connection (HTTP/2); null for other hosts. By default, no
   * requests share a connection.
   */
  perSharedConnection?: (host: string) => number | null;
  /** The maximum of an organization's concurrent requests to all hosts. */
  perOrganization?: number;
  /** The maximum of concurrent requests of all organizations. */
  total?: number;
}

/** The request that a slot is for. */
export interface SlotRequest extends SlotOwner {
  /** The request opens a new connection even if the host has a shared one, as retries do. */
  newConnection?: boolean;
}

interface Waiting extends SlotRequest {
  start: () => void;
}

/** The taken slots of one host. */
interface HostSlots {
  all: SlotCounts;
  /** Those among them of requests that open a new connection. */
  newConnections: SlotCounts;
}

/** Counts the taken slots of a pool, in total and by organization. */
class SlotCounts {
  all = 0;
  readonly #by = new Map<string, number>();

  of(organizationId: string): number {
    return this.#by.get(organizationId) ?? 0;
  }

  add(organizationId: string, count: 1 | -1): void {
    this.all += count;
    const held = this.of(organizationId) + count;
    if (held === 0) this.#by.delete(organizationId);
    else this.#by.set(organizationId, held);
  }
}

/** Reports how the host responded to a request, which adapts the number of further requests. */
export interface HostReport {
  /** Reports a response. Its time counts from the beginning of the task. */
  responded(): void;
  /** Reports that the host rejected the request because of its load, or failed. */
  overloaded(): void;
}

/**
 * Fair slots for requests to foreign hosts. A request atomically takes a slot of its host, a slot of its organization
 * and a slot of the total. It holds none while it waits. A host whose requests share one connection has more slots, but
 * requests that open a new connection to it get no more than those to other hosts. The last free slot of a host, and of
 * the total, is reserved for an organization that holds none there, unless the limit is one. Among waiting
 * organizations, the one with the fewest slots is next; ties take turns. Hosts and organizations without requests take
 * no memory.
 */
export class DownloadSlots {
  readonly #limits: Required<SlotLimits>;
  readonly #hostLimits: HostLimits;
  readonly #taken = new SlotCounts();
  readonly #takenOfHosts = new Map<string, HostSlots>();
  /** By organization, then by host, in order of arrival. */
  readonly #waiting = new Map<string, Map<string, Set<Waiting>>>();

  constructor({
    perHost,
    perSharedConnection = () => null,
    perOrganization = Infinity,
    total = Infinity,
  }: SlotLimits) {
    this.#limits = { perHost, perSharedConnection, perOrganization, total };
    this.#hostLimits = new HostLimits(perHost, perSharedConnection);
  }

  /** The number of hosts with running or waiting requests. */
  get size(): number {
    const waited = [...this.#waiting.values()].flatMap((hosts) => [...hosts.keys()]);
    return new Set([...this.#takenOfHosts.keys(), ...waited]).size;
  }

  /**
   * Runs a task once it has its slots. An abort ends the wait with the signal's reason; a running task must handle the
   * signal itself.
   */
  async run<T>(
    owner: SlotRequest,
    signal: AbortSignal,
    task: (report: HostReport) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    await this.#take(owner, signal);
    const began = performance.now();
    const report: HostReport = {
      responded: () => {
        const concurrent = this.#takenOfHosts.get(owner.host)?.all.of(owner.organizationId) ?? 0;
        this.#hostLimits.succeeded(owner, { responseMs: performance.now() - began, concurrent });
        // The limit may have grown, and the body of this response may take long.
        this.#startWaiting();
      },
      overloaded: () => this.#hostLimits.failed(owner, began),
    };
    try {
      return await task(report);
    } finally {
      this.#count(owner, -1);
      this.#startWaiting();
    }
  }

  async #take(
    { host, organizationId, newConnection = false }: SlotRequest,
    signal: AbortSignal,
  ): Promise<void> {
    let stopListening = (): void => undefined;
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = { host, organizationId, newConnection, start: resolve };
      this.#add(waiting);
      stopListening = onAbort(signal, () => {
        if (this.#remove(waiting)) reject(signal.reason as Error);
      });
      this.#startWaiting();
    }).finally(() => stopListening());
  }

  #startWaiting(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      this.#remove(next);
      this.#putLast(next.organizationId);
      this.#count(next, 1);
      next.start();
    }
  }

  /** Returns the first request with free slots, of the organization with the fewest. */
  #next(): Waiting | null {
    let next: Waiting | null = null;
    let fewest = Infinity;
    for (const [organizationId, hosts] of this.#waiting) {
      const held = this.#taken.of(organizationId);
      if (held >= fewest || held >= this.#limits.perOrganization) continue;
      if (!isOpen(this.#taken, this.#limits.total, organizationId)) continue;
      const first = this.#firstOf(hosts);
      if (first === null) continue;
      next = first;
      fewest = held;
    }
    return next;
  }

  #firstOf(hosts: Map<string, Set<Waiting>>): Waiting | null {
    for (const [host, waiting] of hosts) {
      const taken = this.#takenOfHosts.get(host);
      const [first] = waiting;
      if (first === undefined) continue;
      if (taken === undefined || this.#hasSlot(first, taken)) return first;
    }
    return null;
  }

  #hasSlot(request: Waiting, { all, newConnections }: HostSlots): boolean {
    const { host, organizationId, newConnection } = request;
    const { perHost, perSharedConnection } = this.#limits;
    if (!isOpen(all, perSharedConnection(host) ?? perHost, organizationId)) return false;
    if (newConnection === true && !isOpen(newConnections, perHost, organizationId)) return false;
    return all.of(organizationId) < this.#hostLimits.of(request);
  }

  #count({ host, organizationId, newConnection }: SlotRequest, count: 1 | -1): void {
    this.#taken.add(organizationId, count);
    const taken = this.#takenOfHosts.get(host) ?? { all: new SlotCounts(), newConnections: new SlotCounts() };
    taken.all.add(organizationId, count);
    if (newConnection === true) taken.newConnections.add(organizationId, count);
    if (taken.all.all === 0) this.#takenOfHosts.delete(host);
    else this.#takenOfHosts.set(host, taken);
  }

  #add(waiting: Waiting): void {
    const hosts = this.#waiting.get(waiting.organizationId) ?? new Map<string, Set<Waiting>>();
    this.#waiting.set(waiting.organizationId, hosts);
    const ofHost = hosts.get(waiting.host) ?? new Set();
    hosts.set(waiting.host, ofHost.add(waiting));
  }

  #putLast(organizationId: string): void {
    const hosts = this.#waiting.get(organizationId);
    if (hosts === undefined) return;
    this.#waiting.delete(organizationId);
    this.#waiting.set(organizationId, hosts);
  }

  /** Returns whether the request was still waiting. */
  #remove(waiting: Waiting): boolean {
    const hosts = this.#waiting.get(waiting.organizationId);
    const ofHost = hosts?.get(waiting.host);
    if (ofHost?.delete(waiting) !== true) return false;
    if (ofHost.size === 0) hosts?.delete(waiting.host);
    if (hosts?.size === 0) this.#waiting.delete(waiting.organizationId);
    return true;
  }
}

function isOpen(taken: SlotCounts, limit: number, organizationId: string): boolean {
  const keepsOne = taken.of(organizationId) > 0 && limit > 1;
  return taken.all < (keepsOne ? limit - 1 : limit);
}
