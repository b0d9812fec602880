import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Logs the error of a failed Redis log-in, as ioredis makes it, and other secrets, in a process of its own. */
const script = `
import { createLogger } from './shared/platform/log.ts';
const log = createLogger({ logLevel: 'info' }, 'test');
const refused = Object.assign(new Error('WRONGPASS'), { command: { name: 'auth', args: ['planted-secret'] } });
log.warn({ err: refused }, 'the queue does not answer');
const secrets = Object.fromEntries(\`authorization cookie set-cookie token signature secret secretKey password keyPepper
signingSecrets assetSecret cookieSecret\`.split(/\\s+/).map((name) => [name, 'planted-secret']));
log.info({ ...secrets, headers: secrets, request: { headers: secrets, method: 'GET' } }, 'fields');
const malformed = Object.assign(new Error('Parse Error'), { rawPacket: Buffer.from('planted-secret') });
log.info({ err: malformed }, 'no HTTP');
`;

test('the log redacts credentials, also those in the error of a failed Redis log-in', async () => {
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

/** Logs one line as the processes do. */
const line = `
import { createLogger, openLogStream } from './shared/platform/log.ts';
const production = process.env.NODE_ENV === 'production';
createLogger({ logLevel: 'info' }, 'api', await openLogStream({ production })).info({ port: 1 }, 'listening');
`;
const hostileLine = line.replace(
  ".info({ port: 1 }, 'listening')",
  ".error({ err: new Error('a\\\\u001b[2Jb\\\\u009bc'), path: 'C:\\\\\\\\u001b' }, 'failed')",
);

/** What a process prints to a terminal. */
async function inTerminal(env: Record<string, string>, script = line): Promise<string> {
  const command = `${process.execPath} --import tsx --input-type=module --eval '${script.replaceAll("'", `'"'"'`)}'`;
  const args = ['--quiet', '--return', '--command', command, '/dev/null'];
  return (await promisify(execFile)('script', args, { env: { ...process.env, NO_COLOR: '1', ...env } }))
    .stdout;
}

test.runIf(process.platform === 'linux')(
  'a terminal gets formatted lines, but JSON in production',
  async () => {
    const [development, production] = await Promise.all([
      inTerminal({ NODE_ENV: 'development' }),
      inTerminal({ NODE_ENV: 'production' }),
    ]);
    expect(development).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(api\): listening\r\n +port: 1\r\n$/);
    expect(JSON.parse(production)).toMatchObject({ name: 'api', msg: 'listening', port: 1 });
  },
);

test.runIf(process.platform === 'linux')(
  'control characters in an error are escaped in a terminal, and other text stays unchanged',
  async () => {
    const printed = await inTerminal({ NODE_ENV: 'development' }, hostileLine);
    expect(printed).toContain('Error: a\\u001b[2Jb\\u009bc\r\n              at ');
    expect(printed).toContain(String.raw`path: "C:\\u001b"`);
    // oxlint-disable-next-line no-control-regex -- they must not be there
    expect(printed).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/);
  },
);
