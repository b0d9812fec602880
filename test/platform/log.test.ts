import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../shared/platform/log.ts';

test('the log redacts credentials, also those in the error of a failed Redis log-in', () => {
  let printed = '';
  const log = createLogger({ logLevel: 'info' }, 'test', { write: (line) => void (printed += line) });
  const command = { name: 'auth', args: ['planted-secret'] };
  log.warn({ err: Object.assign(new Error('WRONGPASS'), { command }) }, 'the queue does not respond');
  const names = [
    ...['authorization', 'cookie', 'set-cookie', 'token', 'signature', 'secret', 'secretKey', 'password'],
    ...['keyPepper', 'signingSecrets', 'assetSecret', 'cookieSecret'],
  ];
  const secrets = Object.fromEntries(names.map((name) => [name, 'planted-secret']));
  log.info({ ...secrets, headers: secrets, request: { headers: secrets, method: 'GET' } }, 'fields');
  const rawPacket = Buffer.from('planted-secret');
  log.info({ err: Object.assign(new Error('Parse Error'), { rawPacket }) }, 'no HTTP');

  for (const kept of ['WRONGPASS', '"method":"GET"', 'no HTTP']) expect(printed).toContain(kept);
  expect(printed).not.toContain(String([...rawPacket]));
  expect(printed).not.toContain('planted-secret');
});

/** Logs two lines as the processes do; `script` reads two backslashes as one. */
const script = String.raw`
import { createLogger, openLogStream } from './shared/platform/log.ts';
const production = process.env.NODE_ENV === 'production';
const log = createLogger({ logLevel: 'info' }, 'api', await openLogStream({ production }));
log.info({ port: 1 }, 'listening');
log.error({ err: new Error('a\u001b[2Jb\u009bc'), path: 'C:\\\\u001b' }, 'failed');
`;

/** What a process prints to a terminal. */
async function inTerminal(env: Record<string, string>): Promise<string> {
  const command = `${process.execPath} --import tsx --input-type=module --eval '${script.replaceAll("'", `'"'"'`)}'`;
  const args = ['--quiet', '--return', '--command', command, '/dev/null'];
  const options = { env: { ...process.env, NO_COLOR: '1', ...env } };
  return (await promisify(execFile)('script', args, options)).stdout;
}

describe.runIf(process.platform === 'linux')('a terminal', () => {
  test('gets formatted lines, in which only control characters are escaped', async () => {
    const printed = await inTerminal({ NODE_ENV: 'development' });
    expect(printed).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(api\): listening\r\n +port: 1\r\n/);
    expect(printed).toContain('Error: a\\u001b[2Jb\\u009bc\r\n              at ');
    expect(printed).toContain(String.raw`path: "C:\\u001b"`);
    // oxlint-disable-next-line no-control-regex -- they must not be there
    expect(printed).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/);
  });

  test('gets JSON in production', async () => {
    const [first = ''] = (await inTerminal({ NODE_ENV: 'production' })).split('\r\n');
    expect(JSON.parse(first)).toMatchObject({ name: 'api', msg: 'listening', port: 1 });
  });
});
