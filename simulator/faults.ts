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
  /** How many requests it meets; 1 unless told otherwise, Infinity until healed. */
  times?: number;
  /** Waits before anything else. */
  delayMs?: number;
  /** Answers with this status instead of its own answer. */
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /** Of the answer with `status`. */
  body?: string;
  /** Resets the connection instead of answering. */
  drop?: boolean;
  /** Never answers; the connection stays open. */
  hang?: boolean;
  /** Does what it was asked to before it fails, so that only the answer is lost. */
  afterwards?: boolean;
}

export interface Faults {
  /** Faults of one service happen in the order they were added. */
  add(service: Service, fault: Fault): void;
  /** What the next request meets; each call counts. */
  take(service: Service): Fault | null;
  /** Takes the faults of a service back, or all. */
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
