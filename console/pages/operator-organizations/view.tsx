import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { OperatedOrganization } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { SecretDialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import type { MenuItem } from '../../kit/menu.tsx';
import { Badge, EmptyState } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { orToast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useCommands } from '../../shell/commands.ts';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { query } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { CreateDialog, InviteAdminDialog, SuspendDialog } from './actions.tsx';

type Open = { kind: 'create' } | { kind: 'invite' | 'suspend'; organization: OperatedOrganization };

/** All organizations of this Lectern. */
export default function OrganizationsPage(): JSX.Element {
  const { cursor } = query.value;
  const loaded = useData('GET /api/operator/organizations', {
    query: { ...(cursor !== undefined && { cursor }) },
  });
  const [open, setOpen] = useState<Open>();
  const [link, setLink] = useState<{ email: string; url: string }>();
  const create = () => setOpen({ kind: 'create' });
  useCommands([{ label: t('organizations.create'), icon: 'plus', run: create }], 'organizations');
  const button = (
    <Button kind="primary" icon="plus" onPress={create}>
      {t('organizations.create')}
    </Button>
  );
  const close = () => setOpen(undefined);
  const change: Change = (organizationId, body) =>
    orToast(async () => {
      await request('PATCH /api/operator/organizations/{organizationId}', {
        params: { organizationId },
        body,
      });
      close();
      await loaded.reload();
    });
  const actions = (organization: OperatedOrganization) => actionsFor(organization, setOpen, change);
  return (
    <PageFrame title={t('organizations.title')} actions={button}>
      <List
        caption={t('organizations.title')}
        loaded={loaded}
        rows={loaded.data?.organizations}
        next={loaded.data?.nextCursor}
        empty={
          <EmptyState icon="globe" title={t('organizations.none')} action={button}>
            {t('organizations.none_text')}
          </EmptyState>
        }
        columns={columns(actions)}
        rowKey={({ id }) => id}
      />
      {open && (
        <OpenDialog
          open={open}
          onClose={close}
          onCreated={async (organization) => {
            setOpen({ kind: 'invite', organization });
            await loaded.reload();
          }}
          onInvited={(invited) => {
            close();
            setLink(invited);
          }}
          onSuspend={(organization) => change(organization.id, { status: 'suspended' })}
        />
      )}
      {link && (
        <SecretDialog
          title={t('users.link_title', { email: link.email })}
          text={t('users.link_text')}
          secret={link.url}
          onClose={() => setLink(undefined)}
        />
      )}
    </PageFrame>
  );
}

type Change = (
  organizationId: string,
  body: { plan?: 'solo' | 'edtech'; status?: 'active' | 'suspended' },
) => Promise<unknown>;

function actionsFor(
  organization: OperatedOrganization,
  setOpen: (open: Open) => void,
  change: Change,
): (MenuItem | null)[] {
  const { id, plan: current, suspendedAt } = organization;
  return [
    {
      label: t('organizations.invite'),
      icon: 'person',
      onSelect: () => setOpen({ kind: 'invite', organization }),
    },
    null,
    ...(['solo', 'edtech'] as const).map((plan) => ({
      label: t(`plan.${plan}`),
      isChecked: current === plan,
      onSelect: () => change(id, { plan }),
    })),
    null,
    suspendedAt === null
      ? {
          label: t('organizations.suspend'),
          isDanger: true,
          onSelect: () => setOpen({ kind: 'suspend', organization }),
        }
      : { label: t('organizations.resume'), onSelect: () => change(id, { status: 'active' }) },
  ];
}

function OpenDialog({
  open,
  onClose,
  onCreated,
  onInvited,
  onSuspend,
}: {
  open: Open;
  onClose: () => void;
  onCreated: (organization: OperatedOrganization) => Promise<void>;
  onInvited: (invited: { email: string; url: string }) => void;
  onSuspend: (organization: OperatedOrganization) => Promise<unknown>;
}): JSX.Element {
  switch (open.kind) {
    case 'create':
      return <CreateDialog onClose={onClose} onCreated={onCreated} />;
    case 'invite':
      return <InviteAdminDialog organization={open.organization} onClose={onClose} onInvited={onInvited} />;
    case 'suspend':
      return (
        <SuspendDialog
          organization={open.organization}
          onClose={onClose}
          onSuspend={() => onSuspend(open.organization)}
        />
      );
  }
}

function columns(
  actions: (organization: OperatedOrganization) => (MenuItem | null)[],
): Column<OperatedOrganization>[] {
  return [
    {
      label: t('organizations.organization'),
      cell: ({ name, slug }) => (
        <>
          <strong>{name}</strong>
          <small>{slug}</small>
        </>
      ),
    },
    { label: t('organization.plan'), cell: ({ plan }) => t(`plan.${plan}`) },
    {
      label: t('lessons.status'),
      cell: ({ suspendedAt }) =>
        suspendedAt === null ? (
          <Badge tone="good">{t('organizations.active')}</Badge>
        ) : (
          <Badge tone="warn">{t('organizations.suspended')}</Badge>
        ),
    },
    {
      label: t('webhook.created'),
      isEnd: true,
      isMinor: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    {
      label: t('actions'),
      isActions: true,
      cell: (organization) => (
        <Menu label={t('users.actions', { email: organization.name })} items={actions(organization)}>
          <Icon name="more" />
        </Menu>
      ),
    },
  ];
}
