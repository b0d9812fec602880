import type { Delivery } from '../../api-types.ts';
import type { Tone } from '../../kit/parts.tsx';
import { useData } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';
import { can } from '../../shell/session.ts';

export const statuses: readonly Delivery['status'][] = ['pending', 'delivered', 'failed', 'dismissed'];
export const statusTones: Record<Delivery['status'], Tone> = {
  pending: 'active',
  delivered: 'good',
  failed: 'bad',
  dismissed: 'neutral',
};

export const kinds: readonly Delivery['kind'][] = ['webhook', 'xapi', 'grade'];

/** What a list of deliveries is about. */
export interface Subject {
  targetId?: string;
  lessonId?: string;
  learnerId?: string;
}

const pollMs = 3_000;

/**
 * Loads deliveries by the filters in the URL, newest first, and follows those that wait. The audit log records each
 * request, and deliveries may wait for weeks.
 *
 * @param followedUntilMs when it stops to follow them
 */
export function useDeliveries(subject: Subject, followedUntilMs: number) {
  const { kind, status, lessonId, learnerId, cursor } = query.value;
  return useData(
    'GET /api/deliveries',
    {
      query: {
        kind: kinds.find((one) => one === kind),
        status: statuses.find((one) => one === status),
        lessonId,
        learnerId,
        cursor,
        ...subject,
      },
    },
    {
      everyMs: (page) =>
        Date.now() < followedUntilMs && page?.deliveries.some((one) => one.status === 'pending') ? pollMs : 0,
    },
  );
}

/** What sends to a receiver of deliveries: its name and its page. */
export interface Receiver {
  name: string;
  to?: string;
}

/** Returns a function that finds the receiver of a delivery. */
export function useReceivers(): (delivery: Delivery) => Receiver {
  const webhooks = useData('GET /api/webhooks');
  const destinations = useData('GET /api/xapi-destinations');
  const platforms = useData(can('platforms') ? 'GET /api/platforms' : null);
  const receivers = new Map<string, Receiver>([
    ...(webhooks.data?.webhooks ?? []).map(
      ({ id, url }) => [id, { name: hostOf(url), to: `/webhooks/${id}` }] as const,
    ),
    ...(destinations.data?.destinations ?? []).map(
      ({ id, endpoint }) => [id, { name: hostOf(endpoint), to: `/destinations/${id}` }] as const,
    ),
    ...(platforms.data?.platforms ?? []).map(
      ({ id, name, issuer }) => [id, { name: name ?? hostOf(issuer), to: `/platforms/${id}` }] as const,
    ),
  ]);
  return ({ targetId }) => receivers.get(targetId) ?? { name: targetId };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
