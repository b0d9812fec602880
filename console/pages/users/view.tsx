import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { User } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import type { MenuItem } from '../../kit/menu.tsx';
import { EmptyState } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { orToast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useCommands } from '../../shell/commands.ts';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { query } from '../../shell/router.tsx';
import { session } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import { InviteDialog, LinkDialog, RemoveDialog, roles } from './actions.tsx';
import type { SentLink } from './actions.tsx';
import { accountColumns } from './data.tsx';

/** The accounts of the organization. */
export default function UsersPage(): JSX.Element {
  const { cursor } = query.value;
  const loaded = useData('GET /api/users', {
    query: { ...(cursor !== undefined && { cursor }) },
  });
  const [isInviting, setInviting] = useState(false);
  const [link, setLink] = useState<SentLink>();
  const [removed, setRemoved] = useState<User>();
  const invite = () => setInviting(true);
  useCommands([{ label: t('users.invite'), icon: 'plus', run: invite }], 'users');
  const button = (
    <Button kind="primary" icon="plus" onPress={invite}>
      {t('users.invite')}
    </Button>
  );
  const actions = (user: User) =>
    actionsFor(user, { onChanged: loaded.reload, onLink: setLink, onRemove: setRemoved });
  return (
    <PageFrame title={t('users.title')} actions={button}>
      <List
        caption={t('users.title')}
        loaded={loaded}
        rows={loaded.data?.users}
        next={loaded.data?.nextCursor}
        empty={<EmptyState icon="person" title={t('users.none')} action={button} />}
        columns={columns(actions)}
        rowKey={({ id }) => id}
      />
      {isInviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onInvited={async (invited) => {
            setInviting(false);
            setLink(invited);
            await loaded.reload();
          }}
        />
      )}
      {link && <LinkDialog link={link} onClose={() => setLink(undefined)} />}
      {removed && (
        <RemoveDialog
          email={removed.email}
          action={t('users.remove')}
          remove={() => request('DELETE /api/users/{userId}', { params: { userId: removed.id } })}
          onClose={() => setRemoved(undefined)}
          onRemoved={loaded.reload}
        />
      )}
    </PageFrame>
  );
}

function actionsFor(
  user: User,
  on: {
    onChanged: () => Promise<void>;
    onLink: (link: SentLink) => void;
    onRemove: (user: User) => void;
  },
): (MenuItem | null)[] {
  const params = { userId: user.id };
  const change = (body: { role?: User['role']; status?: 'active' | 'disabled'; twoStep?: 'off' }) =>
    orToast(async () => {
      await request('PATCH /api/users/{userId}', { params, body });
      await on.onChanged();
    });
  const makeLink = () =>
    orToast(async () => {
      const { url } = await request('POST /api/users/{userId}/invitation', { params });
      on.onLink({ email: user.email, url });
    });
  return [
    { label: t('users.link'), icon: 'open', onSelect: makeLink },
    null,
    ...roles.map((role) => ({
      label: t(`role.${role}`),
      isChecked: user.role === role,
      onSelect: () => change({ role }),
    })),
    null,
    user.status === 'disabled'
      ? { label: t('users.enable'), icon: 'check', onSelect: () => change({ status: 'active' }) }
      : { label: t('users.disable'), icon: 'close', onSelect: () => change({ status: 'disabled' }) },
    ...(user.twoStep
      ? [
          {
            label: t('account.turn_off'),
            icon: 'shield' as const,
            onSelect: () => change({ twoStep: 'off' }),
          },
        ]
      : []),
    { label: t('users.remove'), icon: 'trash', isDanger: true, onSelect: () => on.onRemove(user) },
  ];
}

function columns(actions: (user: User) => (MenuItem | null)[]): Column<User>[] {
  return [
    ...accountColumns<User>([{ label: t('users.role'), cell: ({ role }) => t(`role.${role}`) }]),
    {
      label: t('actions'),
      isActions: true,
      // Users cannot change their own role, or lock themselves out.
      cell: (user) =>
        user.id === session.value?.user.id ? (
          <span class="muted">{t('users.you')}</span>
        ) : (
          <Menu label={t('users.actions', { email: user.email })} items={actions(user)}>
            <Icon name="more" />
          </Menu>
        ),
    },
  ];
}
