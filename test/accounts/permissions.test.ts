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

/** The headers of a key with each list of scopes. */
const keys = new Map<string, Promise<{ authorization: string }>>();

function headersOf(scopes: KeyScopes): Promise<{ authorization: string }> {
  const name = String(scopes);
  const headers =
    keys.get(name) ??
    issue(scopes).then(({ publicKey, secretKey }) => ({ authorization: `Bearer ${publicKey}.${secretKey}` }));
  keys.set(name, headers);
  return headers;
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

test.each(guarded)(
  '$method $path admits the roles and keys with the scope "$scope" only, and no writes of other sites',
  async ({ method, path, scope, isExport, takesKeys }) => {
    const send = (headers: Record<string, string>) =>
      ask(api.url + path.replaceAll(/:\w+/g, randomUUID()), { method, headers });
    function expectForbidden(answer: Answer, message: string): void {
      if (method === 'HEAD') expect(answer.status).toBe(403);
      else if (isExport)
        expectFailure(answer, { status: 403, code: 'FORBIDDEN', error: 'Forbidden', message });
      else expectError(answer, 403, message);
    }
    // The ids are unknown and the body is missing: the request passes the checks of its sender.
    const expectAdmitted = async (headers: Record<string, string>) =>
      expect([401, 403]).not.toContain((await send(headers)).status);
    const isAdmitted = (role: Role) => scope === null || rolePermissions[role].includes(scope);

    for (const role of roles) {
      if (isAdmitted(role)) await expectAdmitted(sessions[role]);
      else expectForbidden(await send(sessions[role]), missingPermissionText(scope ?? 'read'));
    }
    for (const cookie of ['', 'lectern=abc; lectern.sig=abc'])
      expect((await send({ cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(401);
    const role = roles.find(isAdmitted) ?? 'admin';
    for (const [name, value] of ['GET', 'HEAD'].includes(method)
      ? []
      : ([
          ['sec-fetch-site', 'cross-site'],
          ['origin', 'https://evil.example'],
        ] as const))
      expectForbidden(
        await send({ ...sessions[role], [name]: value }),
        'Requests from other sites are not allowed',
      );
    if (!takesKeys) {
      expect((await send(await headersOf(null))).status).toBe(401);
      return;
    }
    const needed = scope as KeyScope;
    const others = keyScopeNames.filter((name) => name !== needed);
    expectForbidden(await send(await headersOf(others)), missingScopeText(needed));
    for (const scopes of [[needed], null]) await expectAdmitted(await headersOf(scopes));
  },
);

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
