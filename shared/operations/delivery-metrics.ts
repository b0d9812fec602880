import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Database } from '../models/database.ts';
import { eventKinds, findDueEventTargets } from '../models/event-delivery.ts';
import { countWebhookStates } from '../models/webhook.ts';
import { countDestinations } from '../models/xapi-destination.ts';

const webhookStates = ['active', 'active_failing', 'owner', 'gone', 'failing'] as const;

/**
 * Registers metrics of the outbox of events, read at each scrape. All processes report the same outbox: use the maximum
 * of their figures, not the sum. While MongoDB is unavailable, the figures are missing.
 */
export function registerDeliveryMetrics(registry: Registry, db: Database): void {
  const registers = [registry];
  new Gauge({
    name: 'lectern_deliveries',
    help: 'Events in the outbox by kind: waiting to be delivered, and failed for good, until an owner sends them again.',
    labelNames: ['kind', 'state'],
    registers,
    async collect() {
      this.reset();
      for (const kind of eventKinds) {
        for (const state of ['waiting', 'failed'] as const) {
          const count = await db.eventDeliveries
            .countDocuments({ kind, state })
            .exec()
            .catch(() => null);
          if (count !== null) this.set({ kind, state }, count);
        }
      }
    },
  });
  new Gauge({
    name: 'lectern_deliveries_oldest_due_seconds',
    help: 'How long the most overdue event of a kind has been due; 0 for none. Delays between retries do not count.',
    labelNames: ['kind'],
    registers,
    async collect() {
      this.reset();
      for (const kind of eventKinds) {
        const due = await findDueEventTargets(db, kind).catch(() => null);
        if (due === null) continue;
        const [first] = due;
        this.set({ kind }, first === undefined ? 0 : (Date.now() - first.dueSince.getTime()) / 1000);
      }
    },
  });
  new Gauge({
    name: 'lectern_webhooks',
    help: 'Webhooks by state: active, active but failing, and disabled by the owner, by a 410, or after failing for days.',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      const counts = await countWebhookStates(db).catch(() => null);
      if (counts === null) return;
      for (const state of webhookStates) this.set({ state }, counts[state] ?? 0);
    },
  });
  new Gauge({
    name: 'lectern_xapi_destinations',
    help: 'xAPI destinations by state: active, paused by the owner, and rejected: paused because the LRS rejects Lectern.',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      const counts = await countDestinations(db).catch(() => null);
      if (counts === null) return;
      const { active, paused, rejected } = counts;
      this.set({ state: 'active' }, active);
      this.set({ state: 'paused' }, paused);
      this.set(
        { state: 'rejected' },
        Object.values(rejected).reduce((sum, count) => sum + count, 0),
      );
    },
  });
}
