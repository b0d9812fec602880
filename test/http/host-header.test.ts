import { beforeAll, describe, expect, test } from 'vitest';
import { playerRelease } from '../../shared/player/player-release.ts';
import { ask, sendRaw, statusOf } from '../support/answers.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();
/** Three APIs: without PUBLIC_URL, without PUBLIC_URL behind a proxy, and with PUBLIC_URL. */
let direct: string;
let proxied: string;
let named: string;
let framePath: string;

const publicUrl = 'https://Lessons.example:443/a;b,c';

beforeAll(async () => {
  [direct, proxied, named] = await Promise.all([
    harness.startApi(),
    harness.startApi({ TRUST_PROXY: '1' }),
    harness.startApi({ PUBLIC_URL: publicUrl, TRUST_PROXY: '1' }),
  ]);
  framePath = `/player/${(await playerRelease()).name}/frame.html`;
});

function get(address: string, path: string, headers: string[], version = '1.1'): Promise<string> {
  const lines = [`GET ${path} HTTP/${version}`, ...headers, 'Connection: close', '', ''];
  return sendRaw(address, Buffer.from(lines.join('\r\n'), 'latin1'));
}

function headerOf(answer: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)\r$`, 'im').exec(answer)?.[1];
}

const hostile = [
  ...['x\t;script-src\t*', 'x;y', 'x,y', 'user@x', 'x/path', 'x?query', 'x#fragment', '[::1', '[[['],
  ...['x:port', 'x:99999', '%00', '\xff'],
];

describe('a Host header that is more than host and port gets 400', () => {
  test.each(hostile)('%j', async (host) => {
    expect(statusOf(await get(direct, framePath, [`Host: ${host}`]))).toBe(400);
    expect(statusOf(await get(proxied, framePath, ['Host: a.example', `X-Forwarded-Host: ${host}`]))).toBe(
      400,
    );
    // This API trusts no proxy, so it ignores the header.
    const ignored = await get(direct, framePath, ['Host: a.example', `X-Forwarded-Host: ${host}`]);
    expect(headerOf(ignored, 'Content-Security-Policy')).toContain(' http://a.example/content/ ');
  });

  test('a forwarded scheme other than http and https gets 400', async () => {
    const answer = await get(proxied, framePath, ['Host: a.example', 'X-Forwarded-Proto: javascript']);
    expect(statusOf(answer)).toBe(400);
    expect(answer).toContain('The X-Forwarded-Proto header must be http or https');
  });
});

test.each([
  ['Lessons.Example', 'http://lessons.example'],
  ['lessons.example:80', 'http://lessons.example'],
  ['lessons_api:3000', 'http://lessons_api:3000'],
  ['[::1]:3000', 'http://[::1]:3000'],
])('links and policies name the Host %s by its serialized origin %s', async (host, origin) => {
  const frame = await get(direct, framePath, [`Host: ${host}`]);
  expect(headerOf(frame, 'Content-Security-Policy')).toContain(`script-src 'self' ${origin} blob: 'sha256-`);
  const described = await get(
    direct,
    `/oembed?url=${encodeURIComponent(`${origin}/embed/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`)}`,
    [`Host: ${host}`],
  );
  expect(described).toContain(`"provider_url":"${origin}"`);
  // Shared caches must not store responses that hold one client's URL.
  expect(headerOf(frame, 'Cache-Control')).toBe('private, max-age=3600');
  expect(headerOf(described, 'Cache-Control')).toBe('private, max-age=3600');
});

test('a trusted proxy forwards host and scheme', async () => {
  const forwarded = ['Host: api:3000', 'X-Forwarded-Host: lessons.example', 'X-Forwarded-Proto: HTTPS'];
  const answer = await get(proxied, framePath, forwarded);
  expect(headerOf(answer, 'Content-Security-Policy')).toContain(
    "script-src 'self' https://lessons.example blob: 'sha256-",
  );
});

test('with PUBLIC_URL, the request does not influence URLs of cached responses, and characters that separate CSP directives are encoded', async () => {
  const answer = await get(named, framePath, ['Host: evil.example', 'X-Forwarded-Host: evil.example']);
  const policy = headerOf(answer, 'Content-Security-Policy');
  expect(policy).not.toContain('evil.example');
  expect(policy).toContain("script-src 'self' https://lessons.example blob: 'sha256-");
  expect(policy).toContain('connect-src https://lessons.example/a%3Bb%2Cc/content/ https://lessons.example/');
  expect(headerOf(answer, 'Cache-Control')).toBe('public, max-age=3600');
});

test('a health check over HTTP/1.0 needs no Host; endpoints that return their own URL do', async () => {
  expect(statusOf(await get(direct, '/health/live', [], '1.0'))).toBe(200);
  expect(statusOf(await get(direct, framePath, [], '1.0'))).toBe(400);
  expect((await ask(`${direct}${framePath}`)).status).toBe(200);
});
