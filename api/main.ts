import { requireNode } from '../shared/platform/node-version.ts';

requireNode();
// Loaded after the check, because an older Node.js could not read them.
const { runProcess } = await import('../shared/operations/run-process.ts');
const { startApiProcess } = await import('./start.ts');

// Pages of large books create much garbage.
runProcess({ name: 'api', heapGrowthPercent: 50, start: startApiProcess });
