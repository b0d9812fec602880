import { describe, expect, test } from 'vitest';
import { ask, expectError } from '../support/answers.ts';
import { buildUser, logIn, openSession } from './users.ts';
import { useApi, useStarted } from '../support/use.ts';

const app = 'https://app.lectern.example';
const own = 'https://lectern.example';
const foreign = 'https://evil.example';

const api = useApi({
  LECTERN_ALLOWED_ORIGINS: `${app},https://admin.lectern.example`,
  PUBLIC_URL: own,
});
const account = useStarted(() => buildUser(api));

describe('a log-in or log-out', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['without a browser', {}, true],
    ['from a page of Lectern', { origin: own, 'sec-fetch-site': 'same-origin' }, true],
    ['from an allowed same-site origin', { origin: app, 'sec-fetch-site': 'same-site' }, true],
    ['of an allowed origin, on another site', { origin: app, 'sec-fetch-site': 'cross-site' }, true],
    ['of another site', { origin: foreign, 'sec-fetch-site': 'cross-site' }, false],
    [
      'from another host on the same site',
      { origin: 'https://x.lectern.example', 'sec-fetch-site': 'same-site' },
      false,
    ],
    ['from an allowed host on another port', { origin: `${app}:8443` }, false],
    ['from a host whose name begins like an allowed one', { origin: `${app}.evil.example` }, false],
    ['from a page without an origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }, false],
  ])('%s (CSRF check): %o, passes: %s', async (_whose, headers, letThrough) => {
    const out = await ask(`${api.url}/api/session`, { method: 'DELETE', headers });
    expect(out.status).toBe(letThrough ? 204 : 403);
    if (!letThrough) expectError(out, 403, 'Requests from other sites are not allowed');
    // The body is not JSON, so 422 shows that the request passed the CSRF check.
    const logging = await ask(`${api.url}/api/session`, { method: 'POST', headers, body: 'email=a' });
    expect(logging.status).toBe(letThrough ? 422 : 403);
  });

  test('that the CSRF check rejects does not end the session', async () => {
    const session = await openSession(api.url, account.user);
    const headers = { ...session, origin: foreign };
    expect((await ask(`${api.url}/api/session`, { method: 'DELETE', headers })).status).toBe(403);
    expect((await ask(`${api.url}/api/session`, { headers: session })).status).toBe(200);
  });
});

test('behind HTTPS the cookie is host-only and Secure, whatever the proxy sends', async () => {
  const cookies = (await logIn(api.url, account.user)).headers.getSetCookie();
  // The session, the browser, and a signature of each.
  expect(cookies).toHaveLength(4);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/^__Host-lectern(-browser)?(\.sig)?=[\w.-]+; path=\/; expires=/);
    expect(cookie).toMatch(/; samesite=lax; secure; httponly$/);
    expect(cookie).not.toContain('domain');
  }
});

test('over http the cookie has another name and is not Secure, but HttpOnly and SameSite=Lax', async () => {
  const plain = await api.startApi({ PUBLIC_URL: '' });
  const cookies = (await logIn(plain, account.user)).headers.getSetCookie();
  // The session, the browser, and a signature of each.
  expect(cookies).toHaveLength(4);
  for (const cookie of cookies) {
    expect(cookie).toMatch(
      /^lectern(-browser)?(\.sig)?=[\w.-]+; path=\/; expires=[^;]+; samesite=lax; httponly$/,
    );
  }
});

const lesson = '11111111-1111-4111-8111-111111111111';

describe.each([
  ['/api/session', 'GET, HEAD, POST, DELETE'],
  [`/api/lessons/${lesson}/player-data`, 'GET, HEAD'],
  [`/api/lessons/imports/${lesson}`, 'GET, HEAD, PATCH, DELETE'],
  [`/api/lessons/${lesson}/versions/${lesson}/export-zip`, 'GET, HEAD'],
])('%s', (path, methods) => {
  const read = (origin?: string) => ask(api.url + path, { headers: origin === undefined ? {} : { origin } });
  const preflight = (origin: string) =>
    ask(api.url + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'content-type,x-anything',
      },
    });

  test('responses, errors included, allow CORS with credentials for an allowed origin', async () => {
    const { status, headers } = await read(app);
    expect(status).toBe(401);
    expect(headers.get('access-control-allow-origin')).toBe(app);
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('vary')).toBe('Origin');
  });

  test('a preflight request from an allowed origin gets the allowed methods and headers', async () => {
    const { status, headers } = await preflight(app);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(app);
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('access-control-allow-methods')).toBe(methods);
    const allowed = headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['Content-Type', 'Idempotency-Key', 'Upload-Offset']));
    expect(allowed).not.toContain('Authorization');
    expect(headers.get('vary')).toBe('Origin');
  });

  test('other origins, and requests without one, get no CORS headers', async () => {
    expect((await read()).headers.get('access-control-allow-origin')).toBeNull();
    for (const origin of [foreign, `${app}:8443`, `${app}.evil.example`, 'null', own, '*']) {
      for (const { status, headers } of [await read(origin), await preflight(origin)]) {
        expect(status).toBeGreaterThanOrEqual(400);
        expect(headers.get('access-control-allow-origin')).toBeNull();
        expect(headers.get('access-control-allow-credentials')).toBeNull();
        expect(headers.get('vary')).toBe('Origin');
      }
    }
  });
});
