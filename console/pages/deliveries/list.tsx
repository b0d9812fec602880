import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Delivery } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Filter } from '../../kit/field.tsx';
import { Badge } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { List } from '../../shell/list.tsx';
import { Link, query, setQuery } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { AttemptsDialog, changeDeliveries } from './actions.tsx';
import { kinds, statuses, statusTones, useDeliveries } from './data.ts';
import type { Receiver, Subject } from './data.ts';

/** How long deliveries that wait are followed after the page is opened, or after a change. */
const followedMs = 60_000;

/**
 * Deliveries, newest first, with filters in the URL.
 *
 * @param props.subject selects them, in addition to the filters
 * @param props.receiverOf for a list of several receivers: it gets a column, and a filter for their kinds
 * @param props.title null on a page that has it
 * @param props.filters the parameters that further controls in the toolbar set
 */
export function DeliveryList({
  subject = {},
  receiverOf,
  filters = [],
  controls,
  title = t('delivery.title'),
  empty,
}: {
  subject?: Subject;
  receiverOf?: (delivery: Delivery) => Receiver;
  filters?: readonly string[];
  controls?: ComponentChildren;
  title?: string | null;
  empty: ComponentChildren;
}): JSX.Element {
  const [followedUntilMs, setFollowedUntilMs] = useState(() => Date.now() + followedMs);
  const loaded = useDeliveries(subject, followedUntilMs);
  const [shownId, setShownId] = useState<string>();
  const { data, reload } = loaded;
  const shown = data?.deliveries.find(({ id }) => id === shownId);
  const failed = data?.deliveries.filter(({ status }) => status === 'failed') ?? [];
  const change = async (name: 'resend' | 'dismiss', deliveries: readonly Delivery[]) => {
    await changeDeliveries(name, deliveries);
    setFollowedUntilMs(Date.now() + followedMs);
    await reload();
  };
  return (
    <section class="stack">
      <div class="toolbar">
        {title !== null && <h2>{title}</h2>}
        {receiverOf !== undefined && <KindFilter />}
        <StatusFilter />
        {controls}
        <span class="is-last" />
        {failed.length > 0 && (
          <>
            <Button onPress={() => change('dismiss', failed)}>
              {t('delivery.dismiss_all', { count: failed.length })}
            </Button>
            <Button onPress={() => change('resend', failed)}>
              {t('delivery.resend_all', { count: failed.length })}
            </Button>
          </>
        )}
      </div>
      <List
        caption={t('delivery.title')}
        loaded={loaded}
        rows={data?.deliveries}
        next={data?.nextCursor}
        filters={['kind', 'status', ...filters]}
        empty={empty}
        columns={columns({ receiverOf, onShow: setShownId, change })}
        rowKey={({ id }) => id}
      />
      {shown && <AttemptsDialog delivery={shown} onClose={() => setShownId(undefined)} />}
    </section>
  );
}

function KindFilter(): JSX.Element {
  return (
    <Filter
      label={t('delivery.kind')}
      value={kinds.find((kind) => kind === query.value.kind) ?? ''}
      options={[
        { value: '', label: t('filter.all') },
        ...kinds.map((value) => ({ value, label: t(`delivery.kind_${value}`) })),
      ]}
      onChange={(kind) => setQuery({ kind, cursor: '' })}
    />
  );
}

function StatusFilter(): JSX.Element {
  return (
    <Filter
      label={t('lessons.status')}
      value={statuses.find((status) => status === query.value.status) ?? ''}
      options={[
        { value: '', label: t('filter.all') },
        ...statuses.map((value) => ({ value, label: t(`delivery.${value}`) })),
      ]}
      onChange={(status) => setQuery({ status, cursor: '' })}
    />
  );
}

function columns({
  receiverOf,
  onShow,
  change,
}: {
  receiverOf: ((delivery: Delivery) => Receiver) | undefined;
  onShow: (deliveryId: string) => void;
  change: (name: 'resend' | 'dismiss', deliveries: readonly Delivery[]) => Promise<void>;
}): Column<Delivery>[] {
  return [
    {
      label: t('delivery.event'),
      cell: ({ id, type }) => (
        <button type="button" class="row-link is-button" onClick={() => onShow(id)}>
          {type}
        </button>
      ),
    },
    ...(receiverOf === undefined
      ? []
      : [
          {
            label: t('delivery.receiver'),
            cell: (delivery: Delivery) => (
              <ReceiverLink delivery={delivery} receiver={receiverOf(delivery)} />
            ),
          },
        ]),
    {
      label: t('lessons.status'),
      cell: ({ status }) => <Badge tone={statusTones[status]}>{t(`delivery.${status}`)}</Badge>,
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
      cell: (delivery) => (
        <>
          {mayDismiss(delivery) && (
            <Button kind="quiet" onPress={() => change('dismiss', [delivery])}>
              {t('delivery.dismiss')}
            </Button>
          )}
          <Button kind="quiet" onPress={() => change('resend', [delivery])}>
            {t('delivery.resend')}
          </Button>
        </>
      ),
    },
  ];
}

/** A grade that waits is not dismissed: the next one of the learner would be sent anyway. */
function mayDismiss({ kind, status }: Delivery): boolean {
  return status === 'failed' || (status === 'pending' && kind !== 'grade');
}

function ReceiverLink({
  delivery: { kind },
  receiver: { name, to },
}: {
  delivery: Delivery;
  receiver: Receiver;
}): JSX.Element {
  return (
    <>
      {to === undefined ? name : <Link to={to}>{name}</Link>}
      <small>{t(`delivery.kind_${kind}`)}</small>
    </>
  );
}
