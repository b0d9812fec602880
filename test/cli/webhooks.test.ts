import { expect, test } from 'vitest';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { errorIn, lecternHere, lecternJson } from './command-line.ts';

const harness = useHarness();

test('an operator creates, changes, tests, rotates and deletes a webhook', async () => {
  const { organization } = await buildOrganization(harness);
  const org = ['--org', organization.slug];
  const run = (...args: string[]) => lecternJson(harness.environment, 'webhook', ...args, ...org);
  const events = ['progress.completed', 'lesson.published'];
  const options = ['--url', 'https://example.com/hook', ...events.flatMap((type) => ['--event', type])];
  const { id, secret } = (await run('create', ...options)) as { id: string; secret: string };
  expect(secret).toMatch(/^whsec_/);
  expect(await run('list')).toMatchObject([
    { id, events, status: 'active', url: 'https://example.com/hook' },
  ]);
  expect(await run('update', id, '--disable')).toMatchObject({ status: 'disabled', disabledReason: 'owner' });
  expect(await run('update', id, '--enable', '--event', 'export.ready')).toMatchObject({
    status: 'active',
    events: ['export.ready'],
  });
  const rotated = (await run('rotate', id)) as { secret: string };
  expect(rotated.secret).not.toBe(secret);
  const { deliveryId } = (await run('test', id)) as { deliveryId: string };
  expect(await run('deliveries', id)).toMatchObject([{ id: deliveryId, type: 'ping', status: 'pending' }]);
  expect(await run('resend', id, deliveryId)).toEqual({ count: 1 });
  expect(await run('replay', id, '--since', '2026-01-01T00:00:00Z', '--status', 'failed')).toEqual({
    count: 0,
  });
  const { stdout } = await lecternHere(harness.environment, 'webhook', 'list', ...org);
  expect(stdout).toContain('active  https://example.com/hook');
  await run('delete', id);
  expect(await run('list')).toEqual([]);
  const again = await lecternHere(harness.environment, 'webhook', 'delete', id, ...org);
  expect(errorIn(again)).toContain('Webhook not found');
});

test('wrong options get errors that name what is allowed', async () => {
  const { organization } = await buildOrganization(harness);
  const create = ['webhook', 'create', '--org', organization.slug, '--url'];
  const unknown = await lecternHere(
    harness.environment,
    ...create,
    'https://a.example',
    '--event',
    'nothing',
  );
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('It must be one of progress.started');
  const plain = await lecternHere(
    harness.environment,
    ...create,
    'http://a.example',
    '--event',
    'export.ready',
  );
  expect(errorIn(plain)).toContain('url must begin with https://');
});
