import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Filter } from '../../kit/field.tsx';
import { Badge, CopyText, EmptyState } from '../../kit/parts.tsx';
import type { Tone } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { query, setQuery } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';

type Status = WebhookDelivery['status'];

const statuses: readonly Status[] = ['pending', 'delivered', 'failed', 'dismissed'];
const tones: Record<Status, Tone> = {
  pending: 'active',
  delivered: 'good',
  failed: 'bad',
  dismissed: 'neutral',
};
const pollMs = 3_000;

/** The deliveries of a webhook, newest first. Those that wait are followed. */
export function Deliveries({ webhookId, onTest }: { webhookId: string; onTest: () => unknown }): JSX.Element {
  const { status: given, cursor } = query.value;
  const status = statuses.find((one) => one === given);
  const loaded = useData(
    'GET /api/webhooks/{webhookId}/deliveries',
    {
      params: { webhookId },
      query: { ...(status !== undefined && { status }), ...(cursor !== undefined && { cursor }) },
    },
    { everyMs: (page) => (page?.deliveries.some((one) => one.status === 'pending') ? pollMs : 0) },
  );
  const [shownId, setShownId] = useState<string>();
  const { data, reload } = loaded;
  const shown = data?.deliveries.find(({ id }) => id === shownId);
  const failed = data?.deliveries.filter((one) => one.status === 'failed') ?? [];
  const resend = async (deliveries: readonly WebhookDelivery[]) => {
    for (const { id: deliveryId } of deliveries) {
      const params = { webhookId, deliveryId };
      const isSent = await orToast(() =>
        request('POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/resend', { params }),
      );
      if (!isSent) break;
    }
    toast(t('delivery.resent', { count: deliveries.length }));
    await reload();
  };
  return (
    <section class="stack">
      <div class="toolbar">
        <h2>{t('delivery.title')}</h2>
        <Filter
          label={t('lessons.status')}
          value={status ?? ''}
          options={[
            { value: '', label: t('filter.all') },
            ...statuses.map((value) => ({ value, label: t(`delivery.${value}`) })),
          ]}
          onChange={(value) => setQuery({ status: value, cursor: '' })}
        />
        <span class="is-last" />
        {failed.length > 0 && (
          <Button onPress={() => resend(failed)}>{t('delivery.resend_all', { count: failed.length })}</Button>
        )}
      </div>
      <List
        caption={t('delivery.title')}
        loaded={loaded}
        rows={data?.deliveries}
        next={data?.nextCursor}
        filters={['status']}
        empty={
          <EmptyState
            icon="send"
            title={t('delivery.none')}
            action={<Button onPress={onTest}>{t('webhook.test')}</Button>}
          />
        }
        columns={columns(setShownId, (delivery) => resend([delivery]))}
        rowKey={({ id }) => id}
      />
      {shown && <AttemptsDialog delivery={shown} onClose={() => setShownId(undefined)} />}
    </section>
  );
}

function columns(
  onShow: (deliveryId: string) => void,
  resend: (delivery: WebhookDelivery) => Promise<void>,
): Column<WebhookDelivery>[] {
  return [
    {
      label: t('delivery.event'),
      cell: ({ id, type }) => (
        <button type="button" class="row-link is-button" onClick={() => onShow(id)}>
          {type}
        </button>
      ),
    },
    {
      label: t('lessons.status'),
      cell: ({ status }) => <Badge tone={tones[status]}>{t(`delivery.${status}`)}</Badge>,
    },
    {
      label: t('delivery.response'),
      cell: ({ attempts }) => {
        const last = attempts.at(-1);
        return last === undefined ? '–' : (last.status ?? last.error ?? '–');
      },
    },
    { label: t('delivery.attempts'), isEnd: true, isMinor: true, cell: ({ attempts }) => attempts.length },
    {
      label: t('delivery.last'),
      isEnd: true,
      cell: ({ attempts }) => {
        const last = attempts.at(-1);
        return last === undefined ? '–' : <Time at={last.at} />;
      },
    },
    {
      label: t('actions'),
      isActions: true,
      cell: (delivery) =>
        delivery.status === 'pending' ? null : (
          <Button kind="quiet" onPress={() => resend(delivery)}>
            {t('delivery.resend')}
          </Button>
        ),
    },
  ];
}

/** Each attempt of a delivery: when, how long, and what the receiver answered. */
function AttemptsDialog({
  delivery: { id, type, attempts },
  onClose,
}: {
  delivery: WebhookDelivery;
  onClose: () => void;
}): JSX.Element {
  return (
    <Dialog title={type} isWide onClose={onClose}>
      <CopyText value={id} label={t('delivery.id')} />
      {attempts.length === 0 && <p class="muted">{t('delivery.no_attempts')}</p>}
      <ol class="stack">
        {attempts.toReversed().map(({ at, milliseconds, status, error, response }) => (
          <li key={at} class="stack">
            <div class="toolbar">
              <Badge tone={error === null ? 'good' : 'bad'}>{status ?? t('delivery.no_response')}</Badge>
              <Time at={at} />
              <span class="muted">{milliseconds} ms</span>
            </div>
            {error !== null && <p>{error}</p>}
            {response !== null && response !== '' && (
              <div class="code-block">
                <pre tabIndex={0} aria-label={t('delivery.response')}>
                  <code>{response}</code>
                </pre>
              </div>
            )}
          </li>
        ))}
      </ol>
    </Dialog>
  );
}
