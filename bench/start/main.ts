import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile } from '../../esbuild.config.ts';
import { childEnvironment } from '../../shared/platform/config.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { prepareInstallation, startCompiledApi } from '../installation.ts';
import { medians, report } from '../rounds.ts';
import type { Measurement } from '../rounds.ts';

/*
 * Measures how long the compiled command line and the API take to start while their servers run, against a Node process
 * that only loads Mongoose.
 */

const rounds = Number(process.argv[3] ?? 15);
const baseline = 'node, import mongoose (baseline)';
const { resolve } = createRequire(import.meta.url);

await compile();
const installation = await prepareInstallation();
const { settings, servers } = installation;
const { mongodbUri: MONGODB_URI, redisUrl: REDIS_URL } = servers;
const env = childEnvironment({ ...settings, MONGODB_URI, REDIS_URL });
const folder = await mkdtemp(join(tmpdir(), 'lectern-start-'));
const importMongoose = join(folder, 'mongoose.mjs');
await writeFile(importMongoose, `await import(${JSON.stringify(pathToFileURL(resolve('mongoose')).href)});`);

const run = (name: string, module: string, ...args: string[]): Measurement => ({
  name,
  async measure() {
    const started = performance.now();
    const child = spawn(process.execPath, [module, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${name} ended with exit code ${code}`);
    return performance.now() - started;
  },
});
const compiled = (entry: string) => join(packageRoot, 'dist', `${entry}.js`);

const times = await medians(
  [
    run(baseline, importMongoose),
    run('lectern --help', compiled('cli/main'), '--help'),
    run('lectern org list', compiled('cli/main'), 'org', 'list'),
    {
      name: 'the API, until it is ready',
      async measure() {
        const started = performance.now();
        const { stop } = await startCompiledApi(installation);
        const took = performance.now() - started;
        await stop();
        return took;
      },
    },
  ],
  rounds,
);
report(`Start with running servers, Node ${process.version}, medians of ${rounds} rounds`, times, baseline);
await rm(folder, { recursive: true });
await installation.remove();
