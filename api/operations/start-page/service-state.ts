import { cachedRead } from '../../../shared/platform/cached-read.ts';
import { countWorkers } from '../../../shared/operations/workers.ts';
import type { ExportQueue } from '../../../shared/exports/queues.ts';
import type { ReadinessProbe } from '../../../shared/operations/checks.ts';

export interface ServiceStateDependencies {
  readiness: ReadinessProbe;
  queue: ExportQueue;
}

/** What the start page tells of the service: it works, it works but builds nothing, or it cannot do its work. */
export type ServiceState = 'ok' | 'no_workers' | 'unavailable';

const keepMs = 3_000;

/**
 * Returns a function that reads the state. Anyone may call it at any rate: a result is shared, and kept for 3 seconds.
 * It says nothing of what fails, or of how many workers there are.
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
