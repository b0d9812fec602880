// cspell:ignore NOAUTH requirepass -- words of Redis
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startOwnRedis } from '../support/servers.ts';
import { createCertificate } from '../support/certificate.ts';
import { temporaryFolder } from '../support/folders.ts';
import { connectOptionalRedis, connectRedis } from '../../shared/platform/redis.ts';

test.each([
  ['the API', connectRedis],
  ['a worker', (url: string) => connectOptionalRedis(url, () => undefined)],
])('%s rejects a database that the server lacks, and uses one that it has', async (_who, connect) => {
  const url = new URL(inject('redisUrl'));
  url.pathname = '/9999';
  await expect(connect(url.href)).rejects.toThrow(/has no database 9999 .*Correct the number in REDIS_URL/);
  url.pathname = '/1';
  const redis = await connect(url.href);
  expect(redis.options.db).toBe(1);
  redis.disconnect();
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('a failed connection names its cause and the remedy, never the password', async () => {
  const redis = await startOwnRedis();
  onTestFinished(() => redis.stop());
  const admin = await connectRedis(redis.url);
  await admin.config('SET', 'requirepass', 'a secret');
  admin.disconnect();
  const folder = await temporaryFolder();
  createCertificate(folder);
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
  const secure = await portOf(
    createTlsServer({ key, cert }, (socket) => void socket.on('error', () => socket.destroy())),
  );
  const closing = await portOf(createServer((socket) => void socket.resetAndDestroy()));
  const { port } = redis;

  const cases: [url: string, cause: RegExp, remedy: RegExp][] = [
    [`redis://127.0.0.1:${port}`, /NOAUTH/, /Correct the user and password/],
    [`redis://:wrong@127.0.0.1:${port}`, /WRONGPASS/, /Correct the user and password/],
    [`redis://ada:wrong@127.0.0.1:${port}`, /WRONGPASS/, /Correct the user and password/],
    ['redis://:wrong@127.0.0.1:1', /ECONNREFUSED/, /Start it, or correct host and port/],
    ['redis://:wrong@no-host.invalid:6379', /ENOTFOUND|EAI_AGAIN/, /Correct the host/],
    [`rediss://:wrong@127.0.0.1:${secure}`, /certificate/, /NODE_EXTRA_CA_CERTS/],
    [`redis://:wrong@127.0.0.1:${secure}`, /closed|reset/i, /write rediss:\/\//],
    [`rediss://:wrong@127.0.0.1:${closing}`, /ECONNRESET|disconnected|closed/, /rediss:\/\/|redis:\/\//],
  ];
  for (const [url, cause, remedy] of cases) {
    const { message } = await connectRedis(url).then(
      () => new Error('connected'),
      (error: unknown) => error as Error,
    );
    expect.soft(message, url).toMatch(cause);
    expect.soft(message, url).toMatch(remedy);
    expect.soft(message, url).not.toContain('wrong@');
    const warnings: string[] = [];
    (await connectOptionalRedis(url, (warning) => warnings.push(warning))).disconnect();
    expect.soft(warnings, url).toEqual([message]);
  }
});
