import Koa from 'koa';
import { expect, test } from 'vitest';
import { warnOfProxies } from '../../api/http/middleware/unexpected-proxy.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { ask } from '../support/answers.ts';
import { serve } from '../support/serve.ts';

test.each<[number, string, Record<string, string>, string[]]>([
  [0, 'X-Forwarded-For', { 'x-forwarded-for': '203.0.113.7' }, ['X-Forwarded-For']],
  [0, 'Forwarded', { forwarded: 'for=203.0.113.7' }, ['Forwarded']],
  [0, 'neither', {}, []],
  [1, 'X-Forwarded-For', { 'x-forwarded-for': '203.0.113.7' }, []],
])(
  'with TRUST_PROXY=%i and %s, the log has at most one warning, without the value of the header',
  async (trustProxy, _what, headers, warned) => {
    const lines: string[] = [];
    const log = createLogger({ logLevel: 'warn' }, 'api', { write: (line) => void lines.push(line) });
    const app = new Koa().use(warnOfProxies({ trustProxy }, log)).use((ctx) => {
      ctx.body = 'served';
    });
    const handle = app.callback();
    const url = await serve((...exchange) => void handle(...exchange));
    for (let count = 0; count < 2; count += 1) expect((await ask(url, { headers })).status).toBe(200);
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
      warned.map((header) => expect.objectContaining({ level: 40, header, from: '127.0.0.1' }) as object),
    );
    expect(lines.join()).not.toContain('203.0.113.7');
  },
);
