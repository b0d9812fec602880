import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../api/app.ts';
import {
  keyScopeNames,
  missingPermissionText,
  missingScopeText,
  rolePermissions,
  roles,
} from '../../shared/accounts/permissions.ts';
import type { KeyScope, KeyScopes, Role } from '../../shared/accounts/permissions.ts';
import { authenticate, issueApiKey, rotateApiKey } from '../../shared/models/api-key.ts';
import { ask, expectError, expectFailure, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { beginSession, buildUser, quickHash } from './users.ts';

const api = useApi({ RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PER_ADDRESS: '0' });

/** The headers of a session of each role. */
const sessions = {} as Record<Role, { cookie: string }>;

beforeAll(async () => {
  const { organization } = api;
  for (const role of roles) {
    const { user } = await buildUser(api, { organization, role, passwordHash: quickHash });
    sessions[role] = await beginSession(api, { user });
  }
});

async function issue(scopes?: KeyScopes) {
  const owner = { organizationId: api.organization._id, label: null, expiresAt: null };
  return issueApiKey(api.db, testPepper, { ...owner, ...(scopes !== undefined && { scopes }) });
}

async function headersOf(scopes: KeyScopes) {
  const { publicKey, secretKey } = await issue(scopes);
  return { authorization: `Bearer ${publicKey}.${secretKey}` };
}

/** Every endpoint for callers with permissions. Null as the scope admits every user. */
const guarded = endpoints.flatMap(({ method, path, scope, errors, access }) =>
  scope === undefined
    ? []
    : [
        {
          method: method.toUpperCase(),
          path,
          scope,
          isExport: errors.unexpected?.includes('export') === true,
          takesKeys: access.security.some((requirement) => 'credentials' in requirement),
        },
      ],
);

describe.each(guarded)('$method $path', ({ method, path, scope, isExport, takesKeys }) => {
  const send = (headers: Record<string, string>) =>
    ask(api.url + path.replaceAll(/:\w+/g, randomUUID()), { method, headers });

  function expectForbidden(answer: Answer, message: string): void {
    if (method === 'HEAD') expect(answer.status).toBe(403);
    else if (isExport) expectFailure(answer, { status: 403, code: 'FORBIDDEN', error: 'Forbidden', message });
    else expectError(answer, 403, message);
  }

  test(`admits the roles with the permission "${scope}", and no others`, async () => {
    for (const role of roles) {
      const answer = await send(sessions[role]);
      if (scope !== null && !rolePermissions[role].includes(scope))
        expectForbidden(answer, missingPermissionText(scope));
      // The ids are unknown and the body is missing: the request passed the checks of its sender.
      else if ([401, 403].includes(answer.status)) expect.fail(`${role} gets ${answer.status}`);
    }
  });

  test('rejects requests without a session or credentials', async () => {
    for (const cookie of ['', 'lectern=abc; lectern.sig=abc'])
      expect((await send({ cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(401);
    if (!takesKeys) expect((await send(await headersOf(null))).status).toBe(401);
  });

  test.skipIf(['GET', 'HEAD'].includes(method))('rejects writes of other sites (CSRF)', async () => {
    const role = roles.find((one) => scope === null || rolePermissions[one].includes(scope)) ?? 'admin';
    for (const [name, value] of [
      ['sec-fetch-site', 'cross-site'],
      ['origin', 'https://evil.example'],
    ] as const)
      expectForbidden(
        await send({ ...sessions[role], [name]: value }),
        'Requests from other sites are not allowed',
      );
  });

  const needed = takesKeys ? (scope as KeyScope) : null;
  test.skipIf(needed === null)(`admits keys with the scope "${scope}", and no others`, async () => {
    if (needed === null) return;
    const others = keyScopeNames.filter((name) => name !== needed);
    expectForbidden(await send(await headersOf(others)), missingScopeText(needed));
    for (const scopes of [[needed], null])
      expect([401, 403]).not.toContain((await send(await headersOf(scopes))).status);
  });
});

test('every endpoint for API credentials names its scope in the OpenAPI document', async () => {
  const { paths } = jsonOf(await ask(`${api.url}/openapi.json`)) as {
    paths: Record<string, Record<string, { security: { credentials?: string[] }[] }>>;
  };
  const needed = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ security }) => security.flatMap(({ credentials = [] }) => credentials)),
  );
  expect(needed).toHaveLength(guarded.filter(({ takesKeys }) => takesKeys).length);
  expect(keyScopeNames).toEqual(expect.arrayContaining(needed));
});

describe('a key', () => {
  const scopesOf = async (credentials: { publicKey: string; secretKey: string }) => {
    const entered = await authenticate(api.db, testPepper, credentials, '127.0.0.1');
    return 'fault' in entered ? entered : entered.scopes;
  };

  test('without scopes has all', async () => {
    expect(await scopesOf(await issue())).toBeNull();
  });

  test('keeps its scopes when it is rotated', async () => {
    const scopes: KeyScope[] = ['learners', 'read'];
    const { publicKey } = await issue(scopes);
    const successor = await rotateApiKey(api.db, testPepper, { publicKey }, 60);
    expect(await scopesOf(successor ?? { publicKey, secretKey: '' })).toEqual(scopes);
  });
});
