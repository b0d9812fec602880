import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Fails to log in to Redis, as ioredis words it, and logs that and other secrets in a process of its own. */
const script = `
import { createLogger } from './shared/log.ts';
const log = createLogger({ logLevel: 'info' }, 'test');
const refused = Object.assign(new Error('WRONGPASS'), { command: { name: 'auth', args: ['planted-secret'] } });
log.warn({ err: refused }, 'the queue does not answer');
log.info({ token: 'planted-secret', headers: { authorization: 'planted-secret', cookie: 'planted-secret' } }, 'fields');
`;

test('credentials are cut from the log, also those in the error of a failed Redis log-in', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    script,
  ]);
  expect(stdout).toContain('WRONGPASS');
  expect(stdout).toContain('fields');
  expect(stdout).not.toContain('planted-secret');
});
