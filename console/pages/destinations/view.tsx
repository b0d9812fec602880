import 'messages:page/destination';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { XapiDestination } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
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
import { destinationTones, verbs } from './data.ts';
import { DestinationForm } from './form.tsx';

/** The learning record stores of the organization. */
export default function DestinationsPage(): JSX.Element {
  const loaded = useData('GET /api/xapi-destinations');
  const [isCreating, setCreating] = useState(false);
  const create = () => setCreating(true);
  useCommands([{ label: t('destination.create'), icon: 'plus', run: create }], 'destinations');
  const button = (
    <Button kind="primary" icon="plus" onPress={create}>
      {t('destination.create')}
    </Button>
  );
  return (
    <PageFrame title={t('destinations.title')} actions={button}>
      <List
        caption={t('destinations.title')}
        loaded={loaded}
        rows={loaded.data?.destinations}
        empty={
          <EmptyState icon="chart" title={t('destinations.none')} action={button}>
            {t('destinations.none_text')}
          </EmptyState>
        }
        columns={columns()}
        rowKey={({ id }) => id}
        linkOf={({ id }) => `/destinations/${id}`}
        skeletonRows={3}
      />
      {isCreating && (
        <DestinationForm
          title={t('destination.create')}
          save={t('destination.create')}
          initial={{
            ...{ endpoint: '', username: '', version: '1.0.3', verbs: [...verbs] },
            ...{ pseudonyms: false, passingScore: null },
          }}
          isNew
          onClose={() => setCreating(false)}
          onSave={async ({ password = '', ...fields }) => {
            const body = { ...fields, password };
            const { id } = await request('POST /api/xapi-destinations', { body });
            navigate(`/destinations/${id}`);
          }}
        />
      )}
    </PageFrame>
  );
}

function columns(): Column<XapiDestination>[] {
  return [
    {
      label: t('destination.endpoint'),
      cell: ({ endpoint, username }) => (
        <>
          {endpoint}
          <small>{username}</small>
        </>
      ),
    },
    {
      label: t('lessons.status'),
      cell: ({ status }) => <Badge tone={destinationTones[status]}>{t(`destination.${status}`)}</Badge>,
    },
    { label: t('destination.version'), isEnd: true, isMinor: true, cell: ({ version }) => version },
    { label: t('destination.verbs'), isEnd: true, cell: ({ verbs: own }) => own.length },
    {
      label: t('webhook.created'),
      isEnd: true,
      isMinor: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
}
