import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Fails to log in to Redis, as ioredis words it, and logs that and other secrets in a process of its own. */
const script = `
import { createLogger } from './shared/log.ts';
const log = createLogger({ logLevel: 'info' }, 'test');
const refused = Object.assign(new Error('WRONGPASS'), { command: { name: 'auth', args: ['planted-secret'] } });
log.warn({ err: refused }, 'the queue does not answer');
const secrets = Object.fromEntries(\`authorization cookie set-cookie token signature secret secretKey password keyPepper
signingSecrets assetSecret cookieSecret\`.split(/\\s+/).map((name) => [name, 'planted-secret']));
log.info({ ...secrets, headers: secrets, request: { headers: secrets, method: 'GET' } }, 'fields');
const malformed = Object.assign(new Error('Parse Error'), { rawPacket: Buffer.from('planted-secret') });
log.info({ err: malformed }, 'no HTTP');
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
  expect(stdout).toContain('"method":"GET"');
  expect(stdout).toContain('no HTTP');
  expect(stdout).not.toContain(String([...Buffer.from('planted-secret')]));
  expect(stdout).not.toContain('planted-secret');
});
