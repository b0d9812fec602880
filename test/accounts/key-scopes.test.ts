import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../api/app.ts';
import { keyScopeNames, missingScopeText } from '../../shared/accounts/key-scopes.ts';
import type { KeyScope, KeyScopes } from '../../shared/accounts/key-scopes.ts';
import { authenticate, issueApiKey, rotateApiKey } from '../../shared/models/api-key.ts';
import { ask, expectError, expectFailure, jsonOf } from '../support/answers.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';

const api = useApi();

async function issue(scopes?: KeyScopes) {
  const owner = { organizationId: api.organization._id, label: null, expiresAt: null };
  return issueApiKey(api.db, testPepper, { ...owner, ...(scopes !== undefined && { scopes }) });
}

async function headersOf(scopes: KeyScopes) {
  const { publicKey, secretKey } = await issue(scopes);
  return { authorization: `Bearer ${publicKey}.${secretKey}` };
}

const limited = endpoints.flatMap(({ method, path, scope, errors }) =>
  scope === undefined ? [] : [{ method: method.toUpperCase(), path, scope, errors }],
);

describe.each(limited)('$method $path', ({ method, path, scope, errors }) => {
  const url = () => api.url + path.replaceAll(/:\w+/g, randomUUID());

  test(`rejects a key that has every scope but "${scope}", before it reads the request`, async () => {
    const headers = await headersOf(keyScopeNames.filter((name) => name !== scope));
    const answer = await ask(url(), { method, headers });
    const message = missingScopeText(scope);
    if (method === 'HEAD') expect(answer.status).toBe(403);
    else if (errors.unexpected?.includes('export') === true)
      expectFailure(answer, { status: 403, code: 'FORBIDDEN', error: 'Forbidden', message });
    else expectError(answer, 403, message);
  });

  test(`accepts a key that has only "${scope}"`, async () => {
    const answer = await ask(url(), { method, headers: await headersOf([scope]) });
    expect([401, 403]).not.toContain(answer.status);
  });
});

test('every endpoint for API credentials names its scope in the OpenAPI document', async () => {
  const { paths } = jsonOf(await ask(`${api.url}/openapi.json`)) as {
    paths: Record<string, Record<string, { security: { credentials?: string[] }[] }>>;
  };
  const needed = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ security }) => security.flatMap(({ credentials = [] }) => credentials)),
  );
  expect(needed).toHaveLength(limited.length);
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
    const successor = await rotateApiKey(api.db, testPepper, publicKey, 60);
    expect(await scopesOf(successor ?? { publicKey, secretKey: '' })).toEqual(scopes);
  });
});
