import type { Command } from 'commander';
import { deliveryStatuses, resendDeliveries } from '../../shared/models/delivery-list.ts';
import type { DeliveryStatus } from '../../shared/models/delivery-list.ts';
import type { Database } from '../../shared/models/database.ts';
import { contextCommand, requireOrganization } from '../installation/context.ts';
import { oneOf, parseTime } from '../terminal/option-parsers.ts';
import { count } from '../terminal/output.ts';

interface ReplayOptions {
  org: string;
  since: Date;
  until?: Date;
  status?: DeliveryStatus;
}

/**
 * Adds the options and the action of `replay` to a command that names a target and an organization.
 *
 * @param target.requireTarget throws NOT_FOUND for a target of another organization.
 */
export function addReplay(
  command: Command,
  {
    type,
    requireTarget,
  }: {
    type: 'webhook' | 'destination';
    requireTarget: (db: Database, key: { id: string; organizationId: string }) => Promise<unknown>;
  },
): void {
  contextCommand(
    command
      .requiredOption('--since <time>', 'from this time on, such as 2026-11-21T09:00:00Z', parseTime)
      .option('--until <time>', 'before this time; by default now', parseTime)
      .option('--status <status>', deliveryStatuses.join(', '), oneOf(deliveryStatuses)),
    async ({ db, audit }, id: string, { org, since, until = new Date(), status }: ReplayOptions) => {
      const { _id: organizationId } = await requireOrganization(db, org);
      await requireTarget(db, { id, organizationId });
      const queued = await resendDeliveries(db, { organizationId, targetId: id, status }, { since, until });
      await audit(organizationId, `${type}.replay`, { target: { type, id } });
      return { json: { count: queued }, text: `Queued ${count(queued, 'delivery', 'deliveries')}` };
    },
  );
}
