import { cachedRead } from '../../../shared/operations/checks.ts';
import { countWorkers } from '../../../shared/operations/workers.ts';
import type { ExportQueue } from '../../../shared/exports/queues.ts';
import type { ReadinessProbe } from '../../../shared/operations/checks.ts';

export interface ServiceStateDependencies {
  readiness: ReadinessProbe;
  queue: ExportQueue;
}

/** The state on the start page: everything works, no worker runs, or a server fails. */
export type ServiceState = 'ok' | 'no_workers' | 'unavailable';

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
  const { ready } = await readiness.read();
  if (!ready) return 'unavailable';
  const workers = await countWorkers(queue).catch(() => null);
  if (workers === null) return 'unavailable';
  return workers === 0 ? 'no_workers' : 'ok';
}
