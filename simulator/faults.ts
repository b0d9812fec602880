/** The parts of the platform that can be made to fail. */
export const services = [
  'token',
  'jwks',
  'scores',
  'results',
  'lineitems',
  'authorization',
  'registration',
] as const;

export type Service = (typeof services)[number];

/** How a service fails. */
export interface Fault {
  /** The number of requests that fail: 1 by default, Infinity until healed. */
  times?: number;
  /** Delays the response. */
  delayMs?: number;
  /** Replaces the response. */
  status?: number;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** Resets the connection. */
  drop?: boolean;
  /** Never responds, and keeps the connection open. */
  hang?: boolean;
  /** Processes the request before it fails, so that only the response is lost. */
  afterwards?: boolean;
}

export interface Faults {
  /** Faults of one service happen in the order of this call. */
  add(service: Service, fault: Fault): void;
  /** Returns the fault of the next request, and counts it. */
  take(service: Service): Fault | null;
  /** Removes the faults of one service, or of all. */
  heal(service?: Service): void;
}

export function createFaults(): Faults {
  const queues = new Map<Service, { fault: Fault; left: number }[]>();
  return {
    add(service, fault) {
      const queue = queues.get(service) ?? [];
      queue.push({ fault, left: fault.times ?? 1 });
      queues.set(service, queue);
    },
    take(service) {
      const queue = queues.get(service);
      const first = queue?.[0];
      if (queue === undefined || first === undefined) return null;
      first.left -= 1;
      if (first.left <= 0) queue.shift();
      return first.fault;
    },
    heal(service) {
      if (service === undefined) queues.clear();
      else queues.delete(service);
    },
  };
}
