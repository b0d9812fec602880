import { cachedRead } from '../../../shared/operations/checks.ts';
import type { ExportQueue } from '../../../shared/exports/queues.ts';
import type { ReadinessProbe, ReadinessStatus } from '../../../shared/operations/checks.ts';

export interface ServiceStateDependencies {
  readiness: ReadinessProbe;
  queue: ExportQueue;
}

/** The state on the start page: as {@link ReadinessStatus}, or everything works but no worker runs. */
export type ServiceState = ReadinessStatus | 'no_workers';

const keepMs = 3_000;

/**
 * Returns a function that reads the state. Concurrent calls share a result, which is cached for 3 seconds. The state
 * reveals neither which server fails nor the number of workers.
 */
export function createServiceState(deps: ServiceStateDependencies): () => Promise<ServiceState> {
  return cachedRead(
    () => readState(deps),
    () => keepMs,
  );
}

async function readState({ readiness, queue }: ServiceStateDependencies): Promise<ServiceState> {
  const { status } = await readiness.read();
  if (status !== 'ok') return status;
  const workers = await queue.countWorkers().catch(() => null);
  if (workers === null) return 'degraded';
  return workers === 0 ? 'no_workers' : 'ok';
}
