import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { subscribableEvents } from '../../shared/events/event-types.ts';
import type { EventType } from '../../shared/events/event-types.ts';
import {
  deliveryStatuses,
  listDeliveries,
  resendDeliveries,
  statusOfDelivery,
} from '../../shared/models/delivery-list.ts';
import { isMissing } from '../../shared/models/missed-events.ts';
import type { DeliveryStatus } from '../../shared/models/delivery-list.ts';
import type { EventDelivery } from '../../shared/models/event-delivery.ts';
import type { Database } from '../../shared/models/database.ts';
import { listWebhooks } from '../../shared/models/webhook.ts';
import type { Webhook } from '../../shared/models/webhook.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import {
  changeWebhook,
  createWebhook,
  removeWebhook,
  requireWebhook,
  rotateWebhookSecret,
  testWebhook,
} from '../../shared/webhooks/manage.ts';
import { receiverUrlFault } from '../../shared/webhooks/receiver-url.ts';
import type { ReceiverConfig } from '../../shared/webhooks/receiver-url.ts';
import { contextCommand, readingCommand, requireOrganization } from '../installation/context.ts';
import { oneOf, pageSizeParser, parseCount, parseUuid } from '../terminal/option-parsers.ts';
import { table } from '../terminal/output.ts';
import { addReplay } from './replay.ts';

const maxListed = 1000;
const defaultOverlapHours = 24;

/** `lectern webhook …` */
export function addWebhookCommands(webhook: Command): void {
  addCreateCommand(webhook);
  addListCommand(webhook);
  addChangeCommands(webhook);
  addRotateCommand(webhook);
  addDeliveryCommands(webhook);
}

function addCreateCommand(group: Command): void {
  contextCommand(
    group
      .command('create')
      .description('send events of an organization to a URL; the secret is shown only once')
      .requiredOption('--org <slug>', 'the organization')
      .requiredOption('--url <url>', 'an https URL')
      .requiredOption('--event <type>', `repeatable: ${subscribableEvents.join(', ')}`, collectEvents)
      .option('--description <text>', 'its purpose', ''),
    async (
      { db, secrets, config, audit },
      options: { org: string; url: string; event: EventType[]; description: string },
    ) => {
      const { _id: organizationId } = await requireOrganization(db, options.org);
      assertReceiver(options.url, config);
      const { keyPepper } = await secrets();
      const { url, event: types, description } = options;
      const { webhook, secret } = await createWebhook(db, keyPepper, organizationId, {
        url,
        types,
        description,
      });
      await audit(organizationId, 'webhook.create', targetOf(webhook._id));
      return {
        json: { ...present(webhook), secret },
        text: `Webhook ${webhook._id}\nSecret (shown only once):\n  ${secret}`,
      };
    },
  );
}

function addListCommand(group: Command): void {
  readingCommand(
    group
      .command('list')
      .description('list the webhooks of an organization')
      .requiredOption('--org <slug>', 'the organization'),
    async ({ db }, { org }: { org: string }) => {
      const { _id } = await requireOrganization(db, org);
      const webhooks = await listWebhooks(db, [_id]);
      return { json: webhooks.map(present), text: webhookTable(webhooks, org) };
    },
  );
}

function addChangeCommands(group: Command): void {
  contextCommand(
    ofOne(group.command('update'), 'change a webhook, stop it, or start it again')
      .option('--url <url>', 'an https URL')
      .option('--event <type>', 'repeatable: replaces all event types', collectEvents)
      .option('--description <text>', 'its purpose')
      .option('--enable', 'start it again, even if Lectern disabled it')
      .option('--disable', 'stop it; Lectern keeps no later events for it'),
    async ({ db, config, audit }, id: string, options: ChangeOptions) => {
      const { url, event: types, description, enable, disable } = options;
      if (enable && disable) throw new LecternError('INVALID_CONTENT', 'Use either --enable or --disable.');
      if (url !== undefined) assertReceiver(url, config);
      const key = await keyOf(db, id, options);
      const changed = await changeWebhook(db, key, {
        ...(url !== undefined && { url }),
        ...(types !== undefined && { types }),
        ...(description !== undefined && { description }),
        ...((enable ?? disable) !== undefined && { isActive: enable === true }),
      });
      await audit(key.organizationId, 'webhook.change', targetOf(id));
      return { json: present(changed), text: `Changed ${id}: ${stateOf(changed)}` };
    },
  );
  contextCommand(
    ofOne(group.command('delete'), 'delete a webhook with its deliveries'),
    async ({ db, audit }, id: string, options: OrganizationOption) => {
      const key = await keyOf(db, id, options);
      await removeWebhook(db, key);
      await audit(key.organizationId, 'webhook.delete', targetOf(id));
      return { json: { id }, text: `Deleted ${id}` };
    },
  );
}

function addRotateCommand(group: Command): void {
  contextCommand(
    ofOne(group.command('rotate'), 'create a new secret; the old one also signs during an overlap').option(
      '--overlap-hours <hours>',
      'how long the old secret signs',
      parseCount,
      defaultOverlapHours,
    ),
    async ({ db, secrets, audit }, id: string, options: OrganizationOption & { overlapHours: number }) => {
      const { keyPepper } = await secrets();
      const key = await keyOf(db, id, options);
      const { webhook, secret } = await rotateWebhookSecret(db, keyPepper, key, options.overlapHours * 3600);
      await audit(key.organizationId, 'webhook.rotate', targetOf(id));
      return {
        json: { id, secret, previousSecretExpiresAt: webhook.previousSecretUntil },
        text: `Secret (shown only once):\n  ${secret}`,
      };
    },
  );
}

function addDeliveryCommands(group: Command): void {
  contextCommand(
    ofOne(group.command('test'), 'queue a ping'),
    async ({ db, audit }, id: string, options: OrganizationOption) => {
      const key = await keyOf(db, id, options);
      const deliveryId = await testWebhook(db, key);
      await audit(key.organizationId, 'webhook.test', targetOf(id));
      return { json: { deliveryId }, text: `Queued ${deliveryId}. See: lectern webhook deliveries ${id}` };
    },
  );
  contextCommand(
    ofOne(group.command('deliveries'), 'list deliveries with their last attempt, the newest first')
      .option('--status <status>', deliveryStatuses.join(', '), oneOf(deliveryStatuses))
      .option('--limit <number>', `how many, at most ${maxListed}`, pageSizeParser(maxListed), 50),
    async (
      { db, audit },
      id: string,
      options: OrganizationOption & { status?: DeliveryStatus; limit: number },
    ) => {
      const { organizationId } = await keyOf(db, id, options);
      await requireWebhook(db, { id, organizationId });
      const selection = { organizationId, targetId: id, status: options.status };
      const found = await listDeliveries(db, selection, { after: null, limit: options.limit });
      await audit(organizationId, 'delivery.read', targetOf(id));
      return { json: found.map(presentDelivery), text: deliveryTable(found) };
    },
  );
  contextCommand(
    ofOne(group.command('resend'), 'send one delivery again').argument('<delivery-id>', 'evt_…'),
    async ({ db, audit }, id: string, deliveryId: string, options: OrganizationOption) => {
      const { organizationId } = await keyOf(db, id, options);
      const sent = await resendDeliveries(db, { organizationId, targetId: id }, { ids: [deliveryId] });
      if (sent === 0) throw new LecternError('NOT_FOUND', `The webhook has no delivery ${deliveryId}.`);
      await audit(organizationId, 'delivery.resend', { target: { type: 'delivery', id: deliveryId } });
      return { json: { count: sent }, text: `Queued ${deliveryId}` };
    },
  );
  addReplay(ofOne(group.command('replay'), 'send the deliveries of a period again'), {
    type: 'webhook',
    requireTarget: requireWebhook,
  });
}

function targetOf(id: string) {
  return { target: { type: 'webhook', id } };
}

interface OrganizationOption {
  org: string;
}

interface ChangeOptions extends OrganizationOption {
  url?: string;
  event?: EventType[];
  description?: string;
  enable?: boolean;
  disable?: boolean;
}

function ofOne(command: Command, description: string): Command {
  return command
    .description(description)
    .argument('<webhook-id>', 'the webhook; see webhook list', parseUuid)
    .requiredOption('--org <slug>', 'the organization');
}

async function keyOf(db: Database, id: string, { org }: OrganizationOption) {
  const { _id: organizationId } = await requireOrganization(db, org);
  return { id, organizationId };
}

function assertReceiver(url: string, config: ReceiverConfig): void {
  const fault = receiverUrlFault(url, config);
  if (fault !== null) throw new LecternError('INVALID_CONTENT', `${fault}, not ${url}`);
}

/** Adds an event type to those of the previous options, each once. */
function collectEvents(text: string, previous: EventType[] = []): EventType[] {
  const type = subscribableEvents.find((one) => one === text);
  if (type === undefined)
    throw new InvalidArgumentError(`It must be one of ${subscribableEvents.join(', ')}.`);
  return [...new Set([...previous, type])];
}

function present({ _id, url, types, description, disabled, failingSince, missed, createdAt }: Webhook) {
  return {
    ...{ id: _id, url, events: types, description, status: disabled === null ? 'active' : 'disabled' },
    ...{ disabledReason: disabled?.reason ?? null, failingSince, missedEvents: missed, createdAt },
  };
}

function presentDelivery(delivery: EventDelivery) {
  const { _id, type, attempts, eventAt } = delivery;
  return { id: _id, type, status: statusOfDelivery(delivery), eventAt, attempts };
}

function webhookTable(webhooks: Webhook[], slug: string): string {
  if (webhooks.length === 0) return `${slug} has no webhooks yet. Create one with: lectern webhook create`;
  const rows = webhooks.map((webhook) => [
    webhook._id,
    stateOf(webhook),
    webhook.url,
    webhook.types.join(' '),
  ]);
  return table(['ID', 'STATE', 'URL', 'EVENTS'], rows);
}

function stateOf(webhook: Webhook): string {
  const { disabled, failingSince, missed } = webhook;
  if (disabled !== null) return `disabled (${disabled.reason})`;
  if (missed !== null && isMissing(webhook)) return `misses events since ${missed.since.toISOString()}`;
  return failingSince === null ? 'active' : `failing since ${failingSince.toISOString()}`;
}

function deliveryTable(deliveries: EventDelivery[]): string {
  if (deliveries.length === 0) return 'There are no such deliveries.';
  const rows = deliveries.map((delivery) => {
    const last = delivery.attempts.at(-1);
    const tries = String(delivery.attempts.length);
    const result = last === undefined ? '' : (last.error ?? `returned ${last.status ?? ''}`);
    return [
      delivery._id,
      delivery.type,
      statusOfDelivery(delivery),
      tries,
      last?.at.toISOString() ?? '',
      result,
    ];
  });
  return table(['ID', 'TYPE', 'STATUS', 'TRIES', 'LAST TRY', ''], rows);
}
