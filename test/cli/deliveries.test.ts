import { expect, test } from 'vitest';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import { findOrCreateScore } from '../../shared/models/lti-score.ts';
import { pauseDestination } from '../../shared/models/xapi-destination.ts';
import { buildOrganization } from '../support/factories.ts';
import { lecternHere, lecternReading, useCommandLine } from './command-line.ts';

const { harness, json, errorOf } = useCommandLine();

test('an operator creates, pauses, resumes and deletes an xAPI destination, whose password comes from stdin', async () => {
  const { organization } = await buildOrganization(harness);
  const org = ['--org', organization.slug];
  const run = (...args: string[]) => json('xapi', ...args, ...org);
  const options = ['--endpoint', 'https://lrs.example/xapi', '--username', 'lectern', '--verb', 'completed'];
  const created = await lecternReading(
    harness.environment,
    'a password\n',
    ...['xapi', 'create', ...options, '--passing-score', '0.8', '--json', ...org],
  );
  const { id } = JSON.parse(created.stdout) as { id: string };
  expect(created.stdout + created.stderr).not.toContain('a password');
  const settings = { id, endpoint: 'https://lrs.example/xapi/', verbs: ['completed'], passingScore: 0.8 };
  expect(await run('list')).toMatchObject([{ ...settings, status: 'active' }]);
  expect(await run('pause', id)).toMatchObject({ status: 'paused', pausedReason: 'owner' });
  expect(await run('resume', id)).toMatchObject({ status: 'active', pausedReason: null });
  const replayed = await run('replay', id, '--since', '2026-01-01T00:00:00Z', '--status', 'failed');
  expect(replayed).toEqual({ count: 0 });
  await run('delete', id);
  expect(await run('list')).toEqual([]);
  const endpoint = ['--endpoint', 'https://lrs.example/xapi?key=1', '--username', 'lectern'];
  expect(await errorOf('xapi', 'create', ...endpoint, ...org)).toContain(
    'endpoint must have no query and no fragment',
  );
});

test('doctor and the list say why an LRS gets no statements, and doctor why platforms take no grades', async () => {
  const { organization } = await buildOrganization(harness);
  const org = ['--org', organization.slug];
  const settings = ['--endpoint', 'https://website.example/', '--username', 'lectern'];
  const { stdout: created } = await lecternReading(
    harness.environment,
    'a password\n',
    ...['xapi', 'create', ...settings, '--json', ...org],
  );
  await pauseDestination(harness.db, (JSON.parse(created) as { id: string }).id, 200);
  const learner = {
    organizationId: organization._id,
    platformId: 'moodle',
    lessonId: 'lesson',
    contextId: null,
  };
  const { _id } = await findOrCreateScore(harness.db, { ...learner, ltiUserId: 'ann', linkId: 'link' });
  const at = new Date();
  const failure = { at, since: at, reason: 'web_page', status: 200, body: '<html>' };
  await harness.db.ltiScores.updateOne({ _id }, { state: 'waiting', failingSince: at, failure });
  const { stdout } = await lecternHere(harness.environment, 'doctor', '--json');
  const { checks } = JSON.parse(stdout) as { checks: { name: string; message: string }[] };
  const messageOf = (check: string) => checks.find(({ name }) => name === check)?.message;
  const why = 'the LRS returned no statement ids: another server is at the URL';
  expect(messageOf('xAPI')).toBe(
    `0 active, 0 paused by their owners, 1 paused because ${why}. See: lectern xapi list --org SLUG`,
  );
  expect(messageOf('grades')).toBe('1 waiting (web_page). See: lectern lti scores');
  expect((await lecternHere(harness.environment, 'xapi', 'list', ...org)).stdout).toContain(
    `paused (${why})`,
  );
});

test('an operator lists, resends and dismisses deliveries of one organization', async () => {
  const [own, other] = await Promise.all([buildOrganization(harness), buildOrganization(harness)]);
  const rowOf = (organizationId: string, id: string) => ({
    ...{ _id: `evt_${id}`, kind: 'webhook' as const, organizationId, targetId: 'webhook', type: 'ping' },
    ...{ lessonId: null, learnerId: id, platformId: null, eventAt: new Date(), body: '{}' },
  });
  const rows = [rowOf(own.organization._id, 'a'), rowOf(other.organization._id, 'b')];
  await insertDeliveries(harness.db, rows);
  const org = ['--org', own.organization.slug];
  const run = (...args: string[]) => json('deliveries', ...args, ...org);
  const statusOf = async (...filter: string[]) =>
    ((await run('list', ...filter)) as { id: string; status: string }[]).map(({ id, status }) => [
      id,
      status,
    ]);
  expect(await statusOf()).toEqual([['evt_a', 'pending']]);
  expect(await run('dismiss', 'evt_a', 'evt_b')).toEqual({ count: 1 });
  expect(await statusOf('--status', 'dismissed')).toEqual([['evt_a', 'dismissed']]);
  expect(await run('resend', 'evt_a')).toEqual({ count: 1 });
  expect(await statusOf('--learner', 'a', '--kind', 'webhook')).toEqual([['evt_a', 'pending']]);
  expect(await statusOf('--kind', 'grade')).toEqual([]);
  expect(await errorOf('deliveries', 'resend', 'evt_b', ...org)).toContain('has no such deliveries');
});
