import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CreatedWebhook, Webhook } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { SecretDialog } from '../../kit/dialog.tsx';
import { Badge, EmptyState } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { request } from '../../shell/api.ts';
import { useCommands } from '../../shell/commands.ts';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { navigate } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { webhookTones } from './data.ts';
import { WebhookForm } from './form.tsx';

/** The webhooks of the organization. */
export default function WebhooksPage(): JSX.Element {
  const loaded = useData('GET /api/webhooks');
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedWebhook>();
  const create = () => setCreating(true);
  useCommands([{ label: t('webhook.create'), icon: 'plus', run: create }], 'webhooks');
  const button = (
    <Button kind="primary" icon="plus" onPress={create}>
      {t('webhook.create')}
    </Button>
  );
  return (
    <PageFrame title={t('webhooks.title')} actions={button}>
      <List
        caption={t('webhooks.title')}
        loaded={loaded}
        rows={loaded.data?.webhooks}
        empty={
          <EmptyState icon="send" title={t('webhooks.none')} action={button}>
            {t('webhooks.none_text')}
          </EmptyState>
        }
        columns={columns()}
        rowKey={({ id }) => id}
        linkOf={({ id }) => `/webhooks/${id}`}
        skeletonRows={3}
      />
      {isCreating && (
        <WebhookForm
          title={t('webhook.create')}
          save={t('webhook.create')}
          initial={{ url: '', description: '', events: ['progress.completed'] }}
          onClose={() => setCreating(false)}
          onSave={async (body) => {
            setCreated(await request('POST /api/webhooks', { body }));
            setCreating(false);
            await loaded.reload();
          }}
        />
      )}
      {created && (
        <SecretDialog
          title={t('webhook.secret')}
          text={t('webhook.secret_text')}
          secret={created.secret}
          onClose={() => {
            setCreated(undefined);
            navigate(`/webhooks/${created.id}`);
          }}
        />
      )}
    </PageFrame>
  );
}

function columns(): Column<Webhook>[] {
  return [
    {
      label: t('webhook.url'),
      cell: ({ url, description }) => (
        <>
          {url}
          <small>{description}</small>
        </>
      ),
    },
    {
      label: t('lessons.status'),
      cell: ({ status }) => <Badge tone={webhookTones[status]}>{t(`webhook.${status}`)}</Badge>,
    },
    {
      label: t('webhook.events'),
      isEnd: true,
      cell: ({ events }) => events.length,
    },
    {
      label: t('webhook.created'),
      isEnd: true,
      isMinor: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}
