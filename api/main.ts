import { requireNode } from '../shared/platform/node-version.ts';

requireNode();
await import('./process.ts');
