import type { JSX } from 'preact';
import { Button } from '../../kit/button.tsx';
import { EmptyState, SearchField } from '../../kit/parts.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { useReceivers } from './data.ts';
import { DeliveryList } from './list.tsx';

/** Everything that Lectern sent for the organization, or will send: events, statements and grades. */
export default function DeliveriesPage(): JSX.Element {
  const { lessonId = '', learnerId = '' } = query.value;
  return (
    <PageFrame title={t('delivery.title')}>
      <DeliveryList
        receiverOf={useReceivers()}
        title={null}
        filters={['lessonId', 'learnerId']}
        controls={
          <>
            <SearchField
              label={t('delivery.lesson_id')}
              value={lessonId}
              onSearch={(text) => setQuery({ lessonId: text, cursor: '' }, { replace: true })}
            />
            <SearchField
              label={t('learners.learner')}
              value={learnerId}
              onSearch={(text) => setQuery({ learnerId: text, cursor: '' }, { replace: true })}
            />
          </>
        }
        empty={
          <EmptyState
            icon="send"
            title={t('delivery.none')}
            action={
              <>
                <Button to="/webhooks">{t('webhooks.title')}</Button>
                <Button to="/destinations">{t('destinations.title')}</Button>
              </>
            }
          >
            {t('delivery.none_text')}
          </EmptyState>
        }
      />
    </PageFrame>
  );
}
