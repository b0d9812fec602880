import { expect, test } from 'vitest';
import { useCommandLine } from './command-line.ts';

const { run, json, errorOf, newOwner } = useCommandLine();

test('an operator creates, changes, tests, rotates and deletes a webhook', async () => {
  const org = await newOwner();
  const webhook = (...args: string[]) => json('webhook', ...args, ...org);
  const events = ['progress.completed', 'lesson.published'];
  const options = ['--url', 'https://example.com/hook', ...events.flatMap((type) => ['--event', type])];
  const { id, secret } = (await webhook('create', ...options)) as { id: string; secret: string };
  expect(secret).toMatch(/^whsec_/);
  expect(await webhook('list')).toMatchObject([
    { id, events, status: 'active', url: 'https://example.com/hook' },
  ]);
  expect(await webhook('update', id, '--disable')).toMatchObject({
    status: 'disabled',
    disabledReason: 'owner',
  });
  expect(await webhook('update', id, '--enable', '--event', 'export.ready')).toMatchObject({
    status: 'active',
    events: ['export.ready'],
  });
  const rotated = (await webhook('rotate', id)) as { secret: string };
  expect(rotated.secret).not.toBe(secret);
  const { deliveryId } = (await webhook('test', id)) as { deliveryId: string };
  expect(await webhook('deliveries', id)).toMatchObject([
    { id: deliveryId, type: 'ping', status: 'pending' },
  ]);
  expect(await webhook('resend', id, deliveryId)).toEqual({ count: 1 });
  expect(await webhook('replay', id, '--since', '2026-01-01T00:00:00Z', '--status', 'failed')).toEqual({
    count: 0,
  });
  const { stdout } = await run('webhook', 'list', ...org);
  expect(stdout).toContain('active  https://example.com/hook');
  await webhook('delete', id);
  expect(await webhook('list')).toEqual([]);
  expect(await errorOf('webhook', 'delete', id, ...org)).toContain('Webhook not found');
});

test('wrong options get errors that name the allowed values', async () => {
  const create = ['webhook', 'create', ...(await newOwner()), '--url'];
  const unknown = await run(...create, 'https://a.example', '--event', 'nothing');
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('It must be one of progress.started');
  const plain = [...create, 'http://a.example', '--event', 'export.ready'];
  expect(await errorOf(...plain)).toContain('url must begin with https://');
});
