import type { ExportJob } from '../../shared/exports/jobs.ts';
import { isFinal, readExportStatus } from './export-status.ts';
import type { ExportStatus, StatusDependencies } from './export-status.ts';
import type { JobWaiters } from './job-subscriptions.ts';

/** How often the status is looked at when no event comes: places in the queue move without one. */
const lookMilliseconds = 1_500;

/** What lies between client and server must not take a stream without news for a dead one. */
const heartbeatEvery = 15_000;

/** How long an EventSource waits before it connects anew. */
const reconnectMilliseconds = 2_000;

/**
 * The status of an export as Server-Sent Events: at once, whenever it has changed, and a heartbeat in between. It ends
 * with the status that stays as it is, after EXPORT_WAIT_SECONDS, or when the signal is aborted.
 */
export async function* statusEvents(
  deps: StatusDependencies & { waiters: JobWaiters },
  job: ExportJob,
  options: { first: ExportStatus; signal: AbortSignal; heartbeatMilliseconds?: number },
): AsyncGenerator<string> {
  const { first, signal, heartbeatMilliseconds = heartbeatEvery } = options;
  const end = Date.now() + deps.config.export.waitSeconds * 1000;
  const waiter = deps.waiters.watch(job.key);
  try {
    let sent = eventOf(first);
    let sentAt = Date.now();
    yield `retry: ${reconnectMilliseconds}\n${sent}`;
    for (let status = first; !isFinal(status) && Date.now() < end;) {
      await waiter.next(lookMilliseconds, signal);
      // While Redis is away there is no news.
      status = await deps.waiters.look(job.key, () => readExportStatus(deps, job)).catch(() => status);
      const event = eventOf(status);
      const isNews = event !== sent;
      if (!isNews && Date.now() - sentAt < heartbeatMilliseconds) continue;
      sent = event;
      sentAt = Date.now();
      yield isNews ? event : ': heartbeat\n\n';
    }
  } catch (error) {
    // Where this process ends, whoever still listens connects anew.
    if (!signal.aborted) throw error;
  } finally {
    waiter.close();
  }
}

/** Its id is the status: a client that connects anew tells what it knows already. */
function eventOf(status: ExportStatus): string {
  return `id: ${status.status}\ndata: ${JSON.stringify(status)}\n\n`;
}
