import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, onTestFinished, test } from 'vitest';
import { createProgram } from '../../cli/program.ts';
import { installationLog, readAudit } from '../../shared/models/audit-entry.ts';
import type { AuditAction } from '../../shared/models/audit-entry.ts';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import { findOrCreateScore } from '../../shared/models/lti-score.ts';
import { findOrganizationBySlug } from '../../shared/models/organization.ts';
import { buildPackage } from '../support/factories.ts';
import { temporaryFolder } from '../support/folders.ts';
import { startHarness } from '../support/harness.ts';
import { useHarness, useOrigin } from '../support/use.ts';
import { lecternCommand, lecternReading, startCommand, startLectern } from './command-line.ts';

const origin = useOrigin();
const harness = useHarness(() => ({
  LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
  PUBLIC_URL: 'https://lessons.example',
}));

/** Commands that neither change anything of an organization nor read data of learners. */
const withoutEntries = [
  ...['start', 'help', 'lti simulate'],
  ...['org list', 'key list', 'user list', 'platform list', 'webhook list', 'xapi list'],
  ...['lesson list', 'lesson check', 'lesson convert', 'lesson export', 'lesson new', 'cartridge'],
  // It creates the organization of the demo, on a developer's machine.
  'demo',
  // It records erasures that it repeats: test/erasure/erasure.test.ts.
  'doctor',
];

/** Returns the names of all commands, such as "org create". */
function namesOf(command: Command, groups: string[] = []): string[] {
  if (command.commands.length === 0) return [groups.join(' ')];
  return command.commands.flatMap((one) => namesOf(one, [...groups, one.name()]));
}

test('each command that changes something or reads data of learners records it', async () => {
  const { db, environment } = harness;
  const slug = `audited-${randomUUID()}`;
  const org = ['--org', slug];
  let organizationId = '';
  const recorded = async (log = organizationId) => {
    const actions: string[] = [];
    for await (const { action, actor } of readAudit(db, log, {})) actions.push(`${actor.type} ${action}`);
    return actions;
  };
  const ran = new Set<string>();
  let known = 0;
  /** Runs a command, and expects a new entry; returns what it printed. */
  async function records(action: AuditAction, name: string, ...args: string[]): Promise<Printed> {
    ran.add(name);
    const words = [...name.split(' '), ...args, '--json'];
    const { code, stdout, stderr } = await lecternReading(environment, 'long enough a password\n', ...words);
    expect({ name, code, stderr: code === 0 ? '' : stderr }).toEqual({ name, code: 0, stderr: '' });
    const printed = JSON.parse(stdout) as Printed;
    organizationId ||= (await findOrganizationBySlug(db, slug))?._id ?? '';
    const added = (await recorded()).slice(known);
    known += added.length;
    expect({ name, added }).toEqual({ name, added: [`operator ${action}`] });
    return printed;
  }

  await records('organization.create', 'org create', '--slug', slug, '--name', 'A', '--plan', 'edtech');
  await records('organization.set_plan', 'org set-plan', slug, 'edtech');
  await records('organization.set_origins', 'org set-origins', slug, 'https://lms.example');
  await records('organization.set_limits', 'org set-limits', slug, '--key-days', '90');
  await records('organization.set_external_videos', 'org set-external-videos', slug, 'on');
  await records('theme.change', 'org set-theme', slug, '--color', '#224466');
  await records('retention.change', 'org set-retention', slug, '--progress', '30', '--dry-run');
  await records('retention.change', 'org set-retention', slug, '--progress', '30');

  const { publicKey } = await records('key.create', 'key create', ...org);
  await records('key.set_addresses', 'key set-addresses', publicKey, '203.0.113.0/24');
  await records('key.rotate', 'key rotate', publicKey);
  await records('key.revoke', 'key revoke', publicKey);

  const email = `${randomUUID()}@example.com`;
  await records('user.create', 'user create', ...org, '--email', email, '--role', 'author');
  await records('user.set_password', 'user set-password', email);
  await records('user.disable', 'user disable', email);
  await records('user.disable_two_step', 'user reset-two-step', email);

  const { path } = await buildPackage();
  const { lessonId } = await records('lesson.import', 'lesson import', path, ...org);
  await records('preview.create', 'lesson preview', lessonId);
  await records('version.publish', 'lesson publish', lessonId);
  await records('theme.change', 'lesson set-theme', lessonId, '--color', '#224466');
  const out = ['--out', await temporaryFolder()];
  await records('learners.list', 'lesson learners', lessonId, ...out);
  await records('answers.list', 'lesson learners', lessonId, ...out, '--format', 'answers');
  await records('token.sign', 'token sign', '--lesson', lessonId, '--learner', 'ada');
  await records('token.revoke', 'token revoke', ...org, '--lesson', lessonId);
  await records('version.unpublish', 'lesson unpublish', lessonId);
  await records('lesson.delete', 'lesson delete', lessonId);

  await records('learner.export', 'learner export', 'ada', ...org, ...out);
  await records('learner.erase', 'learner erase', 'ada', ...org, '--dry-run');
  const erasing = startLectern(environment, 'learner', 'erase', 'ada', ...org);
  await erasing.printed('Tokens that were signed until now are rejected');
  expect((await recorded()).slice(known++)).toEqual(['operator learner.erase']);
  await records('audit.read', 'audit list', ...org, '--learner', 'ada');

  const hook = ['--url', 'https://example.com/hook', '--event', 'progress.completed'];
  const { id: webhookId } = await records('webhook.create', 'webhook create', ...org, ...hook);
  const since = ['--since', '2026-01-01T00:00:00Z'];
  await records('webhook.change', 'webhook update', webhookId, ...org, '--event', 'export.ready');
  await records('webhook.rotate', 'webhook rotate', webhookId, ...org);
  const { deliveryId } = await records('webhook.test', 'webhook test', webhookId, ...org);
  await records('delivery.read', 'webhook deliveries', webhookId, ...org);
  await records('delivery.resend', 'webhook resend', webhookId, deliveryId, ...org);
  await records('webhook.replay', 'webhook replay', webhookId, ...org, ...since);
  await records('webhook.delete', 'webhook delete', webhookId, ...org);

  const lrs = ['--endpoint', 'https://lrs.example/xapi', '--username', 'lectern'];
  const { id: destinationId } = await records('destination.create', 'xapi create', ...org, ...lrs);
  await records('destination.change', 'xapi pause', destinationId, ...org);
  await records('destination.change', 'xapi resume', destinationId, ...org);
  await records('destination.replay', 'xapi replay', destinationId, ...org, ...since);
  await records('destination.delete', 'xapi delete', destinationId, ...org);

  const row = { _id: `evt_${randomUUID()}`, kind: 'webhook' as const, organizationId, targetId: 'webhook' };
  const event = {
    type: 'ping',
    lessonId: null,
    learnerId: 'ada',
    platformId: null,
    body: '{}',
  };
  await insertDeliveries(db, [{ ...row, ...event, eventAt: new Date() }]);
  await records('delivery.read', 'deliveries list', ...org, '--learner', 'ada');
  await records('delivery.dismiss', 'deliveries dismiss', row._id, ...org);
  await records('delivery.resend', 'deliveries resend', row._id, ...org);

  origin.serve('/globe.js', 'export default {};', { contentType: 'text/javascript' });
  const globe = ['--type', 'Globe', '--js', origin.url('/globe.js')];
  await records('widget.register', 'widget register', ...org, ...globe);

  const urls = ['auth', 'token', 'jwks'].flatMap((what) => [`--${what}-url`, `https://lms.example/${what}`]);
  const registered = ['--issuer', `https://${randomUUID()}.example`, '--client-id', 'client'];
  const { id: platformId } = await records('platform.add', 'platform add', ...org, ...registered, ...urls);
  await records('platform.invite', 'platform invite', ...org);
  await records('platform.update', 'platform update', platformId, '--name', 'Moodle');
  await records('platform.approve', 'platform approve', platformId, '--deployment-id', '1');
  const ofLearner = { organizationId, lessonId, platformId, ltiUserId: 'ada', contextId: null };
  const { _id: scoreId } = await findOrCreateScore(db, { ...ofLearner, linkId: randomUUID() });
  const wanted = { scoreGiven: 1, scoreMaximum: 1, finishedAt: new Date(), revision: 1 };
  const failed = { state: 'failed', wanted };
  await db.ltiScores.updateOne({ _id: scoreId }, failed);
  await records('grade.read', 'lti scores', ...org);
  await records('grade.dismiss', 'lti dismiss', scoreId);
  await db.ltiScores.updateOne({ _id: scoreId }, failed);
  await records('grade.resend', 'lti resend', scoreId);
  await records('platform.remove', 'platform remove', platformId);

  organizationId = installationLog;
  known = (await recorded()).length;
  await records('audit.read', 'audit list');
  expect([...ran, ...withoutEntries].toSorted()).toEqual(namesOf(await createProgram()).toSorted());
}, 180_000);

/** What these commands print: each a few of these. */
interface Printed {
  id: string;
  publicKey: string;
  lessonId: string;
  deliveryId: string;
}

test.skipIf(process.getuid?.() !== 0)(
  'a user without a login or a home directory, as on OpenShift, runs commands',
  async () => {
    const slug = `arbitrary-${randomUUID()}`;
    const folder = await mkdtemp(join(tmpdir(), 'lectern-group-0-'));
    await chmod(folder, 0o770);
    const own = await startHarness({ LECTERN_DATA_DIR: folder, LECTERN_STORE_DIR: join(folder, 'store') });
    onTestFinished(async () => {
      await own.close();
      await rm(folder, { recursive: true });
    });
    const asUser = ['env', '-u', 'HOME', 'setpriv', '--reuid=1000650000', '--regid=0', '--clear-groups'];
    const create = ['org', 'create', '--slug', slug, '--name', 'OpenShift', '--plan', 'edtech'];
    const { code, stderr } = await startCommand([...asUser, ...lecternCommand, ...create], own.environment)
      .finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const organization = await findOrganizationBySlug(own.db, slug);
    const actors: string[] = [];
    for await (const { actor } of readAudit(own.db, String(organization?._id), {})) actors.push(actor.id);
    expect(actors).toEqual([`uid 1000650000@${hostname()}`]);
  },
);
