import type { JSX } from 'preact';
import type { LtiPlatform } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Badge, EmptyState } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useCommands } from '../../shell/commands.ts';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { navigate, query } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { platformTones } from './data.ts';

/** The learning platforms that launch lessons. */
export default function PlatformsPage(): JSX.Element {
  const { cursor } = query.value;
  const loaded = useData('GET /api/platforms', { query: { ...(cursor !== undefined && { cursor }) } });
  const connect = () => navigate('/platforms/connect');
  useCommands([{ label: t('platforms.connect'), icon: 'plug', run: connect }], 'platforms');
  const button = (
    <Button kind="primary" icon="plug" to="/platforms/connect">
      {t('platforms.connect')}
    </Button>
  );
  return (
    <PageFrame title={t('platforms.title')} actions={button}>
      <List
        caption={t('platforms.title')}
        loaded={loaded}
        rows={loaded.data?.platforms}
        next={loaded.data?.nextCursor}
        empty={
          <EmptyState icon="plug" title={t('platforms.none')} action={button}>
            {t('platforms.none_text')}
          </EmptyState>
        }
        columns={columns()}
        rowKey={({ id }) => id}
        linkOf={({ id }) => `/platforms/${id}`}
        skeletonRows={3}
      />
    </PageFrame>
  );
}

function columns(): Column<LtiPlatform>[] {
  return [
    {
      label: t('platforms.platform'),
      cell: ({ name, issuer }) => (
        <>
          {name ?? issuer}
          <small>{issuer}</small>
        </>
      ),
    },
    {
      label: t('lessons.status'),
      cell: ({ status }) => <Badge tone={platformTones[status]}>{t(`platforms.${status}`)}</Badge>,
    },
    {
      label: t('platforms.last_launch'),
      isEnd: true,
      cell: ({ lastLaunchAt }) => (lastLaunchAt === null ? '–' : <Time at={lastLaunchAt} />),
    },
  ];
}
