import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { LtiPlatform } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { ActionDialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Badge, CopyText, ErrorState, Facts, Notice } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { PageFrame } from '../../shell/page.tsx';
import type { PageProps } from '../../shell/page.tsx';
import { navigate } from '../../shell/router.tsx';
import { can } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { platformTones } from '../platforms/data.ts';
import { Grades } from './grades.tsx';

/** A learning platform: the values that it needs, its last launches, and the grades for it. */
export default function PlatformPage({ params: { platformId = '' } }: { params: PageProps }): JSX.Element {
  const params = { platformId };
  const { data: platform, error, reload } = useData('GET /api/platforms/{platformId}', { params });
  const [isDeleting, setDeleting] = useState(false);
  const change = (body: { status?: 'active'; addDeploymentIds?: string[] }) =>
    orToast(async () => {
      await request('PATCH /api/platforms/{platformId}', { params, body });
      await reload();
    });
  return (
    <PageFrame
      title={
        platform === undefined
          ? error === undefined
            ? '…'
            : t('platforms.platform')
          : (platform.name ?? platform.issuer)
      }
      parents={[{ label: t('platforms.title'), to: '/platforms' }]}
      status={
        platform && <Badge tone={platformTones[platform.status]}>{t(`platforms.${platform.status}`)}</Badge>
      }
      actions={
        platform && (
          <>
            {platform.status === 'pending' && (
              <Button kind="primary" icon="check" onPress={() => change({ status: 'active' })}>
                {t('platforms.approve')}
              </Button>
            )}
            <Menu
              label={t('more')}
              items={[
                {
                  label: t('platforms.delete'),
                  icon: 'trash',
                  isDanger: true,
                  onSelect: () => setDeleting(true),
                },
              ]}
            >
              <Icon name="more" />
            </Menu>
          </>
        )
      }
    >
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {platform !== undefined && (
        <>
          {platform.status === 'pending' && <Notice tone="warn">{t('platforms.pending_text')}</Notice>}
          {platform.unknownDeployments.map((deployment) => (
            <Notice key={deployment} tone="warn" title={t('platforms.deployment', { deployment })}>
              <div>
                <Button onPress={() => change({ addDeploymentIds: [deployment] })}>
                  {t('platforms.accept')}
                </Button>
              </div>
            </Notice>
          ))}
          <Values platform={platform} />
          {can('learners') && <Grades platformId={platformId} />}
        </>
      )}
      {isDeleting && platform && <DeleteDialog platform={platform} onClose={() => setDeleting(false)} />}
    </PageFrame>
  );
}

function Values({ platform }: { platform: LtiPlatform }): JSX.Element {
  const { issuer, clientId, deploymentIds, authUrl, tokenUrl, jwksUrl, keySetUrl, launchFaults } = platform;
  const copied = (label: string, value: string) =>
    [label, <CopyText key={label} value={value} label={label} />] as const;
  return (
    <div class="columns">
      <section class="card">
        <h2>{t('platforms.values')}</h2>
        <Facts
          items={[
            copied(t('platforms.issuer'), issuer),
            copied(t('platforms.client'), clientId),
            [t('platforms.deployments'), deploymentIds.join(', ') || '–'],
            copied(t('platforms.auth'), authUrl),
            copied(t('platforms.token'), tokenUrl),
            copied(t('platforms.keys'), jwksUrl),
            copied(t('platforms.own_keys'), keySetUrl),
          ]}
        />
      </section>
      <section class="card">
        <h2>{t('platforms.faults')}</h2>
        {launchFaults.length === 0 ? (
          <p class="muted">{t('platforms.no_faults')}</p>
        ) : (
          <Facts items={launchFaults.map(({ code, at }) => [code, <Time key={at} at={at} />] as const)} />
        )}
      </section>
    </div>
  );
}

function DeleteDialog({
  platform: { id, name, issuer },
  onClose,
}: {
  platform: LtiPlatform;
  onClose: () => void;
}): JSX.Element {
  return (
    <ActionDialog
      title={t('platforms.delete_title', { name: name ?? issuer })}
      action={t('platforms.delete')}
      isDanger
      onClose={onClose}
      onAction={async () => {
        await request('DELETE /api/platforms/{platformId}', { params: { platformId: id } });
        toast(t('platforms.deleted', { name: name ?? issuer }));
        navigate('/platforms');
      }}
    >
      <p>{t('platforms.delete_text')}</p>
    </ActionDialog>
  );
}
