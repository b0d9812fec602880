import 'messages:page/launch_fault';
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
import type { TextKey } from '../../shell/text.ts';
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

/** What went wrong in a launch and what helps, by the code that Lectern records. */
const causes: Partial<Record<string, TextKey & `launch_fault.${string}`>> = {
  unknown_deployment: 'launch_fault.deployment',
  platform_keys_unavailable: 'launch_fault.key_set',
  unknown_key: 'launch_fault.signature',
  bad_signature: 'launch_fault.signature',
  wrong_issuer: 'launch_fault.client',
  wrong_audience: 'launch_fault.client',
  wrong_authorized_party: 'launch_fault.client',
  token_expired: 'launch_fault.clock',
  token_too_old: 'launch_fault.clock',
  token_from_future: 'launch_fault.clock',
  wrong_algorithm: 'launch_fault.signing',
  key_id_missing: 'launch_fault.signing',
  nonce_missing: 'launch_fault.nonce',
  wrong_nonce: 'launch_fault.nonce',
  wrong_version: 'launch_fault.version',
  wrong_message_type: 'launch_fault.version',
  malformed_token: 'launch_fault.malformed',
  malformed_claims: 'launch_fault.malformed',
  target_mismatch: 'launch_fault.target',
  resource_link_missing: 'launch_fault.link',
  no_lesson: 'launch_fault.no_lesson',
  lesson_not_found: 'launch_fault.lesson_not_found',
  lesson_not_available: 'launch_fault.lesson_not_available',
  no_accepted_type: 'launch_fault.no_accepted_type',
  not_for_learners: 'launch_fault.not_for_learners',
};

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
          <ul class="rows">
            {launchFaults.toReversed().map(({ code, at }) => (
              <li key={at + code}>
                {causes[code] !== undefined && <p>{t(causes[code])}</p>}
                <p class="muted">
                  <code>{code}</code> <Time at={at} />
                </p>
              </li>
            ))}
          </ul>
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
