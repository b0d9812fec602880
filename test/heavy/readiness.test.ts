import { Agent, get } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startApiProcess } from '../support/api-process.ts';
import { startHarness } from '../support/harness.ts';
import { printFigure } from './measure.ts';

vi.setConfig({ testTimeout: 120_000 });

const connections = 500;
const probes = 20;

function statusOf(url: string, agent?: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(`${url}/health/ready`, agent === undefined ? {} : { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    }).once('error', reject);
  });
}

async function probe(url: string): Promise<{ statuses: number[]; slowestMs: number }> {
  const statuses: number[] = [];
  let slowestMs = 0;
  for (let count = 0; count < probes; count += 1) {
    const started = performance.now();
    statuses.push(await statusOf(url));
    slowestMs = Math.max(slowestMs, performance.now() - started);
  }
  return { statuses, slowestMs };
}

test('500 connections to /health/ready do not fail the orchestrator’s probe', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const api = await startApiProcess(harness);
  onTestFinished(async () => void (await api.end('SIGKILL')));
  const idle = await probe(api.url);

  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  onTestFinished(() => agent.destroy());
  let isRunning = true;
  let answers = 0;
  const flood = Array.from({ length: connections }, async () => {
    while (isRunning) {
      await statusOf(api.url, agent);
      answers += 1;
    }
  });
  const flooded = await probe(api.url);
  isRunning = false;
  await Promise.all(flood);

  printFigure('readiness probe', {
    'slowest of 20, idle, ms': idle.slowestMs,
    'slowest of 20, flooded, ms': flooded.slowestMs,
    answers,
  });
  expect(new Set(flooded.statuses)).toEqual(new Set([200]));
});
