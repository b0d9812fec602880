import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';
import { warnOfProxies } from '../../api/http/middleware/unexpected-proxy.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { ask } from '../support/answers.ts';

test.each<[number, string, Record<string, string>, string[]]>([
  [0, 'X-Forwarded-For', { 'x-forwarded-for': '203.0.113.7' }, ['X-Forwarded-For']],
  [0, 'Forwarded', { forwarded: 'for=203.0.113.7' }, ['Forwarded']],
  [0, 'neither', {}, []],
  [1, 'X-Forwarded-For', { 'x-forwarded-for': '203.0.113.7' }, []],
])('with TRUST_PROXY=%i and %s', async (trustProxy, _what, headers, warned) => {
  const lines: string[] = [];
  const log = createLogger({ logLevel: 'warn' }, 'api', { write: (line) => void lines.push(line) });
  const app = new Koa().use(warnOfProxies({ trustProxy }, log)).use((ctx) => {
    ctx.body = 'served';
  });
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let count = 0; count < 2; count += 1) {
    expect((await ask(`http://127.0.0.1:${port}`, { headers })).status).toBe(200);
  }
  expect(lines.map((line) => (JSON.parse(line) as { header: string }).header)).toEqual(warned);
});
