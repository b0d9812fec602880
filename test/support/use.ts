import { afterAll, beforeAll } from 'vitest';
import type { Browser } from 'playwright-core';
import type { Organization } from '../../shared/models/organization.ts';
import { buildOrganization } from './factories.ts';
import { closeContexts, sharedBrowser } from './browser.ts';
import { startHarness } from './harness.ts';
import type { Harness } from './harness.ts';
import { startOrigin } from './origin.ts';
import type { Origin } from './origin.ts';

/**
 * What the tests of a file share. Each function registers hooks that start it before the tests and close it after
 * them, and returns it for use within tests and later hooks:
 *
 *     const origin = useOrigin();
 *     const api = useApi(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host }), { worker: true });
 *     test('…', async () => ask(`${api.url}/health`));
 */

/** Settings over the defaults of tests, named as in the environment; a function is called when the tests start. */
type Settings = Record<string, string> | (() => Record<string, string>);

/** A Lectern with a running API, and an organization with credentials. */
export interface Api extends Harness {
  /** Such as http://127.0.0.1:40123. */
  url: string;
  organization: Organization;
  credentials: string;
  /** The organization's Authorization header. */
  headers: { authorization: string };
}

/** Starts servers, a database and a data directory for the file, without an API or a worker. */
export function useHarness(settings: Settings = {}): Harness {
  return useStarted(
    () => startHarness(typeof settings === 'function' ? settings() : settings),
    (harness) => harness.close(),
  );
}

/** Starts a harness with an API, with an organization, and with a worker if a test needs one. */
export function useApi(settings: Settings = {}, { worker = false } = {}): Api {
  return useStarted(
    async () => {
      const harness = await startHarness(typeof settings === 'function' ? settings() : settings);
      const url = await harness.startApi();
      if (worker) await harness.startWorker();
      return { ...harness, url, ...(await buildOrganization(harness)) };
    },
    (api) => api.close(),
  );
}

/** Starts a foreign web server. */
export function useOrigin(): Origin {
  return useStarted(startOrigin, (origin) => origin.close());
}

/** Opens the Chromium that the test files of this process share, and closes the file's contexts. */
export function useBrowser(): Browser {
  return useStarted(sharedBrowser, closeContexts);
}

/** Returns a stand-in for what `start` resolves to. */
export function useStarted<T extends object>(
  start: () => Promise<T>,
  close: (started: T) => Promise<void> = () => Promise.resolve(),
): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(async () => {
    if (started !== undefined) await close(started);
  });
  const target = (): T => {
    if (started === undefined) throw new Error('This starts before the tests: use it within tests and hooks');
    return started;
  };
  return new Proxy({} as T, {
    get(_, name) {
      const value: unknown = Reflect.get(target(), name);
      return typeof value === 'function' ? (value.bind(target()) as unknown) : value;
    },
    set: (_, name, value) => Reflect.set(target(), name, value),
    has: (_, name) => Reflect.has(target(), name),
    ownKeys: () => Reflect.ownKeys(target()),
    getOwnPropertyDescriptor: (_, name) => {
      const property = Reflect.getOwnPropertyDescriptor(target(), name);
      return property && { ...property, configurable: true };
    },
  });
}
