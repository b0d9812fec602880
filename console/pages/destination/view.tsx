import 'messages:page/destination';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { XapiDestination } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Badge, CopyText, EmptyState, ErrorState, Facts, Notice } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { orToast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { PageFrame } from '../../shell/page.tsx';
import type { PageProps } from '../../shell/page.tsx';
import { formatShare, t } from '../../shell/text.ts';
import { ReplayDialog } from '../deliveries/actions.tsx';
import { DeliveryList } from '../deliveries/list.tsx';
import { destinationTones } from '../destinations/data.ts';
import { DestinationForm } from '../destinations/form.tsx';
import { DeleteDialog, testDestination } from './actions.tsx';

type Open = 'edit' | 'delete' | 'replay';

/** A learning record store, and the statements that it has been sent. */
export default function DestinationPage({
  params: { destinationId = '' },
}: {
  params: PageProps;
}): JSX.Element {
  const params = { destinationId };
  const {
    data: destination,
    error,
    reload,
  } = useData('GET /api/xapi-destinations/{destinationId}', { params });
  const [open, setOpen] = useState<Open>();
  // Changes when deliveries have been added, so that the list is loaded again.
  const [round, setRound] = useState(0);
  const test = () => testDestination(destinationId);
  const setStatus = (status: XapiDestination['status']) =>
    orToast(async () => {
      await request('PATCH /api/xapi-destinations/{destinationId}', { params, body: { status } });
      await reload();
      setRound(round + 1);
    });
  return (
    <PageFrame
      title={destination?.endpoint ?? (error === undefined ? '…' : t('destinations.title'))}
      parents={[{ label: t('destinations.title'), to: '/destinations' }]}
      status={
        destination && (
          <Badge tone={destinationTones[destination.status]}>{t(`destination.${destination.status}`)}</Badge>
        )
      }
      actions={
        destination && (
          <Actions destination={destination} onTest={test} setOpen={setOpen} onStatus={setStatus} />
        )
      }
    >
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {destination !== undefined && (
        <>
          {destination.pausedReason !== undefined && (
            <Notice tone="warn">{pauseText(destination.pausedReason)}</Notice>
          )}
          <Details destination={destination} />
          <DeliveryList
            key={round}
            subject={{ targetId: destinationId }}
            empty={
              <EmptyState
                icon="chart"
                title={t('delivery.none')}
                action={<Button onPress={test}>{t('destination.test')}</Button>}
              >
                {t('destination.no_deliveries')}
              </EmptyState>
            }
          />
        </>
      )}
      {destination && open !== undefined && (
        <OpenDialog
          open={open}
          destination={destination}
          onClose={() => setOpen(undefined)}
          onChanged={reload}
          onReplayed={() => setRound(round + 1)}
        />
      )}
    </PageFrame>
  );
}

function pauseText(reason: string): string {
  if (reason === 'owner') return t('destination.paused_owner');
  if (reason === 'no_statement_ids') return t('destination.paused_no_ids');
  return t('destination.paused_status', { status: reason });
}

function Details({ destination }: { destination: XapiDestination }): JSX.Element {
  const { id, username, version, verbs, pseudonyms, passingScore, missedEvents, createdAt } = destination;
  return (
    <div class="card">
      <Facts
        items={[
          [t('destination.username'), username],
          [t('destination.version'), version],
          [t('destination.verbs'), verbs.join(', ')],
          passingScore !== null && [t('destination.passing_score'), formatShare(passingScore, 2)],
          pseudonyms && [t('destination.pseudonyms'), <Icon key="pseudonyms" name="check" />],
          missedEvents !== undefined && [
            t('delivery.missed'),
            <>
              <Time at={missedEvents.since} /> – {missedEvents.until && <Time at={missedEvents.until} />}
            </>,
          ],
          [t('destination.id'), <CopyText key="id" value={id} label={t('destination.id')} />],
          [t('webhook.created'), <Time key="time" at={createdAt} />],
        ]}
      />
    </div>
  );
}

function Actions({
  destination,
  onTest,
  setOpen,
  onStatus,
}: {
  destination: XapiDestination;
  onTest: () => unknown;
  setOpen: (open: Open) => void;
  onStatus: (status: XapiDestination['status']) => unknown;
}): JSX.Element {
  const isPaused = destination.status === 'paused';
  return (
    <>
      {isPaused && (
        <Button kind="primary" icon="check" onPress={() => onStatus('active')}>
          {t('destination.resume')}
        </Button>
      )}
      <Button icon="send" onPress={onTest}>
        {t('destination.test')}
      </Button>
      <Menu
        label={t('more')}
        items={[
          { label: t('webhook.edit'), onSelect: () => setOpen('edit') },
          { label: t('delivery.replay'), onSelect: () => setOpen('replay') },
          ...(isPaused ? [] : [{ label: t('destination.pause'), onSelect: () => onStatus('paused') }]),
          null,
          { label: t('destination.delete'), isDanger: true, onSelect: () => setOpen('delete') },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </>
  );
}

function OpenDialog({
  open,
  destination,
  onClose,
  onChanged,
  onReplayed,
}: {
  open: Open;
  destination: XapiDestination;
  onClose: () => void;
  onChanged: () => Promise<void>;
  onReplayed: () => void;
}): JSX.Element {
  const { id: destinationId, endpoint, username, version, verbs, pseudonyms, passingScore } = destination;
  const params = { destinationId };
  switch (open) {
    case 'edit':
      return (
        <DestinationForm
          title={t('webhook.edit')}
          save={t('save')}
          initial={{ endpoint, username, version, verbs, pseudonyms, passingScore }}
          isNew={false}
          onClose={onClose}
          onSave={async (body) => {
            await request('PATCH /api/xapi-destinations/{destinationId}', { params, body });
            onClose();
            await onChanged();
          }}
        />
      );
    case 'replay':
      return (
        <ReplayDialog
          onReplay={(body) => request('POST /api/xapi-destinations/{destinationId}/replay', { params, body })}
          onClose={onClose}
          onDone={() => {
            onClose();
            onReplayed();
          }}
        />
      );
    case 'delete':
      return <DeleteDialog destination={destination} onClose={onClose} />;
  }
}
