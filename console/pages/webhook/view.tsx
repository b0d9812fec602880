import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Webhook } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { SecretDialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Badge, CopyText, EmptyState, ErrorState, Facts, Notice } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { PageFrame } from '../../shell/page.tsx';
import type { PageProps } from '../../shell/page.tsx';
import { t } from '../../shell/text.ts';
import { webhookTones } from '../webhooks/data.ts';
import { WebhookForm } from '../webhooks/form.tsx';
import { ReplayDialog } from '../deliveries/actions.tsx';
import { DeliveryList } from '../deliveries/list.tsx';
import { DeleteDialog, RotateDialog } from './actions.tsx';

type Open = 'edit' | 'rotate' | 'delete' | 'replay';

/** A webhook, and what it has been sent. */
export default function WebhookPage({ params: { webhookId = '' } }: { params: PageProps }): JSX.Element {
  const params = { webhookId };
  const { data: webhook, error, reload } = useData('GET /api/webhooks/{webhookId}', { params });
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<string>();
  // Changes when deliveries have been added, so that the list is loaded again.
  const [round, setRound] = useState(0);
  const close = () => setOpen(undefined);
  const test = () =>
    orToast(async () => {
      await request('POST /api/webhooks/{webhookId}/test', { params });
      toast(t('webhook.tested'));
      setRound(round + 1);
    });
  const setStatus = (status: Webhook['status']) =>
    orToast(async () => {
      await request('PATCH /api/webhooks/{webhookId}', { params, body: { status } });
      await reload();
    });
  return (
    <PageFrame
      title={webhook?.url ?? (error === undefined ? '…' : t('webhooks.title'))}
      parents={[{ label: t('webhooks.title'), to: '/webhooks' }]}
      status={webhook && <Badge tone={webhookTones[webhook.status]}>{t(`webhook.${webhook.status}`)}</Badge>}
      actions={webhook && <Actions webhook={webhook} onTest={test} setOpen={setOpen} onStatus={setStatus} />}
    >
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {webhook !== undefined && (
        <>
          {webhook.disabledReason !== undefined && webhook.disabledReason !== 'owner' && (
            <Notice tone="warn">{t(`webhook.disabled_${webhook.disabledReason}`)}</Notice>
          )}
          <Details webhook={webhook} />
          <DeliveryList
            key={round}
            subject={{ targetId: webhookId }}
            empty={
              <EmptyState
                icon="send"
                title={t('delivery.none')}
                action={<Button onPress={test}>{t('webhook.test')}</Button>}
              />
            }
          />
        </>
      )}
      {webhook && open !== undefined && (
        <OpenDialog
          open={open}
          webhook={webhook}
          onClose={close}
          onSecret={setSecret}
          onChanged={reload}
          onReplayed={() => setRound(round + 1)}
        />
      )}
      {secret !== undefined && (
        <SecretDialog
          title={t('webhook.secret')}
          text={t('webhook.secret_text')}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </PageFrame>
  );
}

function Details({ webhook }: { webhook: Webhook }): JSX.Element {
  const { id, events, description, missedEvents, createdAt } = webhook;
  return (
    <div class="card">
      <Facts
        items={[
          description !== '' && [t('webhook.description'), description],
          [t('webhook.events'), events.join(', ')],
          missedEvents !== undefined && [
            t('delivery.missed'),
            <>
              <Time at={missedEvents.since} /> – {missedEvents.until && <Time at={missedEvents.until} />}
            </>,
          ],
          [t('webhook.id'), <CopyText key="id" value={id} label={t('webhook.id')} />],
          [t('webhook.created'), <Time key="time" at={createdAt} />],
        ]}
      />
    </div>
  );
}

function Actions({
  webhook,
  onTest,
  setOpen,
  onStatus,
}: {
  webhook: Webhook;
  onTest: () => unknown;
  setOpen: (open: Open) => void;
  onStatus: (status: Webhook['status']) => unknown;
}): JSX.Element {
  return (
    <>
      <Button icon="send" onPress={onTest}>
        {t('webhook.test')}
      </Button>
      <Menu
        label={t('more')}
        items={[
          { label: t('webhook.edit'), onSelect: () => setOpen('edit') },
          { label: t('delivery.replay'), onSelect: () => setOpen('replay') },
          { label: t('webhook.rotate'), onSelect: () => setOpen('rotate') },
          webhook.status === 'active'
            ? { label: t('webhook.disable'), onSelect: () => onStatus('disabled') }
            : { label: t('webhook.enable'), onSelect: () => onStatus('active') },
          null,
          { label: t('webhook.delete'), isDanger: true, onSelect: () => setOpen('delete') },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </>
  );
}

function OpenDialog({
  open,
  webhook,
  onClose,
  onSecret,
  onChanged,
  onReplayed,
}: {
  open: Open;
  webhook: Webhook;
  onClose: () => void;
  onSecret: (secret: string) => void;
  onChanged: () => Promise<void>;
  onReplayed: () => void;
}): JSX.Element {
  const { id: webhookId, url, description, events } = webhook;
  switch (open) {
    case 'edit':
      return (
        <WebhookForm
          title={t('webhook.edit')}
          save={t('save')}
          initial={{ url, description, events }}
          onClose={onClose}
          onSave={async (body) => {
            await request('PATCH /api/webhooks/{webhookId}', { params: { webhookId }, body });
            onClose();
            await onChanged();
          }}
        />
      );
    case 'rotate':
      return (
        <RotateDialog
          webhookId={webhookId}
          onClose={onClose}
          onDone={(rotated) => {
            onClose();
            onSecret(rotated);
          }}
        />
      );
    case 'replay':
      return (
        <ReplayDialog
          onReplay={(body) =>
            request('POST /api/webhooks/{webhookId}/replay', { params: { webhookId }, body })
          }
          onClose={onClose}
          onDone={() => {
            onClose();
            onReplayed();
          }}
        />
      );
    case 'delete':
      return <DeleteDialog webhook={webhook} onClose={onClose} />;
  }
}
