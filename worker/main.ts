import { requireNode } from '../shared/platform/node-version.ts';

requireNode();
// Loaded after the check, because an older Node.js could not read them.
const { runProcess } = await import('../shared/operations/run-process.ts');
const { startWorker } = await import('./start.ts');

// Builds of many small files create much garbage.
runProcess({
  name: 'worker',
  heapGrowthPercent: 10,
  async start(config, servers, deps) {
    const port = await startWorker(config, servers, deps);
    deps.log.info({ concurrency: config.worker.concurrency, port }, 'waiting for exports');
    return { ready: true, port };
  },
});
