import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { isPrebuild, prebuildPriority } from '../exports/enqueue.ts';
import type { ExportQueue } from '../exports/queues.ts';

/** The number of waiting jobs, in the order of their start, among which the oldest is found. */
const agedJobs = 100;

/**
 * Registers metrics of the export queue, read at each scrape. All processes report the same queue: use the maximum of
 * their figures, not the sum. While Redis is unavailable, the figures are missing.
 */
export function registerQueueMetrics(registry: Registry, queue: ExportQueue): void {
  const registers = [registry];
  new Gauge({
    name: 'lectern_export_queue_jobs',
    help: 'Exports in the queue: waiting for clients, waiting to be prebuilt, being built, being prebuilt, delayed until a retry, ended.',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await readExportCounts(queue).catch(() => ({}));
      this.reset();
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'lectern_export_queue_oldest_waiting_seconds',
    help: 'The longest wait among the next 100 requested exports; 0 for none.',
    registers,
    async collect() {
      const age = await readOldestAge(queue).catch(() => null);
      if (age === null) this.remove();
      else this.set(age);
    },
  });
  new Gauge({
    name: 'lectern_workers',
    help: 'Worker processes that take export jobs, on all hosts.',
    registers,
    async collect() {
      const count = await queue.countWorkers().catch(() => null);
      if (count === null) this.remove();
      else this.set(count);
    },
  });
}

/** Returns the number of jobs in each state. */
export async function readExportCounts(queue: ExportQueue) {
  const [counts, { [prebuildPriority]: prebuild = 0 }, building] = await Promise.all([
    queue.getJobCounts('waiting', 'prioritized', 'delayed', 'completed', 'failed'),
    queue.getCountsPerPriority([prebuildPriority]),
    queue.getActive(),
  ]);
  const { waiting = 0, prioritized = 0, delayed = 0, completed = 0, failed = 0 } = counts;
  const activePrebuild = building.filter(isPrebuild).length;
  return {
    waiting: waiting + prioritized - prebuild,
    prebuild,
    active: building.length - activePrebuild,
    active_prebuild: activePrebuild,
    ...{ delayed, completed, failed },
  };
}

/** Returns the longest wait of a requested export, in seconds. */
async function readOldestAge(queue: ExportQueue): Promise<number> {
  const next = await queue.getJobs(['waiting', 'prioritized'], 0, agedJobs - 1, true);
  // A pre-build that was requested meanwhile has waited for its request for an unknown part of its time.
  const times = next.filter((job) => !isPrebuild(job.opts)).map(({ timestamp }) => timestamp);
  return times.length === 0 ? 0 : Math.max(0, Date.now() - Math.min(...times)) / 1000;
}
