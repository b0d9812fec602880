import type { JSX } from 'preact';
import { t } from '../../shell/text.ts';
import { useReceivers } from '../deliveries/data.ts';
import { DeliveryList } from '../deliveries/list.tsx';

/** What webhooks, learning record stores and platforms got about a learner. */
export function SentDeliveries({
  lessonId,
  learnerId,
}: {
  lessonId: string;
  learnerId: string;
}): JSX.Element {
  return (
    <DeliveryList
      title={t('learner.sent')}
      subject={{ lessonId, learnerId }}
      receiverOf={useReceivers()}
      empty={<p class="muted">{t('delivery.none')}</p>}
    />
  );
}
