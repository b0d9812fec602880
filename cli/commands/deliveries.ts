import type { Command } from 'commander';
import { deliveryStatuses } from '../../shared/models/delivery-list.ts';
import type { DeliveryStatus } from '../../shared/models/delivery-list.ts';
import {
  deliveryKinds,
  dismissAny,
  listAllDeliveries,
  resendAny,
} from '../../shared/outgoing/all-deliveries.ts';
import type { AnyDelivery, DeliveryKind } from '../../shared/outgoing/all-deliveries.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { contextCommand, requireOrganization } from '../installation/context.ts';
import { oneOf, pageSizeParser, parseLearnerId, parseUuid } from '../terminal/option-parsers.ts';
import { count, table } from '../terminal/output.ts';

const maxListed = 1000;

interface ListOptions {
  org: string;
  kind?: DeliveryKind;
  status?: DeliveryStatus;
  lesson?: string;
  learner?: string;
  limit: number;
}

/** `lectern deliveries …` */
export function addDeliveriesCommands(deliveries: Command): void {
  contextCommand(
    deliveries
      .command('list')
      .description('list deliveries with their targets, times and responses, the newest first')
      .requiredOption('--org <slug>', 'the organization')
      .option('--kind <kind>', deliveryKinds.join(', '), oneOf(deliveryKinds))
      .option('--status <status>', deliveryStatuses.join(', '), oneOf(deliveryStatuses))
      .option('--lesson <id>', 'about one lesson', parseUuid)
      .option('--learner <id>', 'about one learner', parseLearnerId)
      .option('--limit <number>', `how many, at most ${maxListed}`, pageSizeParser(maxListed), 50),
    async (
      { db, secrets, audit },
      { org, kind, status, lesson: lessonId, learner: learnerId, limit }: ListOptions,
    ) => {
      const { _id: organizationId } = await requireOrganization(db, org);
      const selection = { organizationId, kind, status, lessonId, learnerId };
      const found = await listAllDeliveries(db, selection, { after: null, limit });
      const target =
        learnerId === undefined
          ? null
          : {
              type: 'learner',
              id: pseudonymOf((await secrets()).keyPepper, { source: 'embed', organizationId, learnerId }),
            };
      await audit(organizationId, 'delivery.read', { target });
      return { json: found, text: deliveryTable(found) };
    },
  );
  for (const { name, description, done, change } of [
    { name: 'resend', description: 'send deliveries again', done: 'Queued', change: resendAny },
    {
      name: 'dismiss',
      description: 'dismiss waiting or failed deliveries, so that Lectern does not send them',
      done: 'Dismissed',
      change: dismissAny,
    },
  ]) {
    contextCommand(
      deliveries
        .command(name)
        .description(description)
        .argument('<ids...>', 'as deliveries list shows them')
        .requiredOption('--org <slug>', 'the organization'),
      async ({ db, audit }, ids: string[], { org }: { org: string }) => {
        const { _id } = await requireOrganization(db, org);
        const changed = await change(db, _id, ids);
        if (changed === 0) throw new LecternError('NOT_FOUND', `${org} has no such deliveries.`);
        await audit(_id, `delivery.${name}`, { target: null, details: { count: changed } });
        return { json: { count: changed }, text: `${done}: ${count(changed, 'delivery', 'deliveries')}` };
      },
    );
  }
}

function deliveryTable(deliveries: AnyDelivery[]): string {
  if (deliveries.length === 0) return 'There are no such deliveries.';
  const rows = deliveries.map(({ id, kind, type, status, targetId, attempts }) => {
    const last = attempts.at(-1);
    const result = last === undefined ? '' : (last.error ?? `returned ${last.status ?? ''}`);
    return [id, kind, type, status, targetId, last?.at.toISOString() ?? '', result];
  });
  return table(['ID', 'KIND', 'TYPE', 'STATUS', 'TARGET', 'LAST TRY', ''], rows);
}
