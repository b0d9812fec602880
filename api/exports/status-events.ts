import type { ExportJob } from '../../shared/exports/jobs.ts';
import { isFinal, readExportStatus } from './export-status.ts';
import type { ExportStatus, StatusDependencies } from './export-status.ts';
import type { JobSubscriptions } from './job-subscriptions.ts';

/** The poll interval between events: positions in the queue change without one. */
const pollIntervalMs = 1_500;

/** Often enough that no proxy takes an idle stream for a dead one. */
const defaultHeartbeatMs = 15_000;

/** How long an EventSource waits before it reconnects. */
const reconnectMs = 2_000;

/**
 * Yields the status of an export as Server-Sent Events: at once, after every change, and a heartbeat in between. Ends
 * after a final status, after EXPORT_WAIT_SECONDS, or when the signal is aborted.
 */
export async function* statusEvents(
  deps: StatusDependencies & { subscriptions: JobSubscriptions },
  job: ExportJob,
  options: { first: ExportStatus; signal: AbortSignal; heartbeatMs?: number },
): AsyncGenerator<string> {
  const { first, signal, heartbeatMs = defaultHeartbeatMs } = options;
  const end = Date.now() + deps.config.export.waitSeconds * 1000;
  const subscription = deps.subscriptions.toChanges(job.key);
  try {
    let sent = toEvent(first);
    let sentAt = Date.now();
    yield `retry: ${reconnectMs}\n${sent}`;
    for (let status = first; !isFinal(status) && Date.now() < end;) {
      await subscription.next(pollIntervalMs, signal);
      // While Redis is down, the status stays as it was.
      status = await deps.subscriptions
        .cachedRead(job.key, () => readExportStatus(deps, job))
        .catch(() => status);
      const event = toEvent(status);
      const isNew = event !== sent;
      if (!isNew && Date.now() - sentAt < heartbeatMs) continue;
      sent = event;
      sentAt = Date.now();
      yield isNew ? event : ': heartbeat\n\n';
    }
  } catch (error) {
    // Clients reconnect when this process shuts down.
    if (!signal.aborted) throw error;
  } finally {
    subscription.close();
  }
}

/** Uses the status as event id, so that a client that reconnects sends the status it already has. */
function toEvent(status: ExportStatus): string {
  return `id: ${status.status}\ndata: ${JSON.stringify(status)}\n\n`;
}
