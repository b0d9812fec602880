import 'messages:page/operators';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Operator } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { ActionDialog, SecretDialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
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
import { accountColumns } from '../users/data.tsx';

/** A link that sets an operator's password. */
interface SentLink {
  email: string;
  url: string;
}

/** The accounts of those who run the installation. */
export default function OperatorsPage(): JSX.Element {
  const { cursor } = query.value;
  const loaded = useData('GET /api/operator/users', { query: { cursor } });
  const [isInviting, setInviting] = useState(false);
  const [link, setLink] = useState<SentLink>();
  const invite = () => setInviting(true);
  useCommands([{ label: t('operators.invite'), icon: 'plus', run: invite }], 'operators');
  const button = (
    <Button kind="primary" icon="plus" onPress={invite}>
      {t('operators.invite')}
    </Button>
  );
  return (
    <PageFrame title={t('operators.title')} actions={button}>
      <List
        caption={t('operators.title')}
        loaded={loaded}
        rows={loaded.data?.users}
        next={loaded.data?.nextCursor}
        empty={<EmptyState icon="person" title={t('users.none')} action={button} />}
        columns={columns((operator) => actionsFor(operator, { onChanged: loaded.reload, onLink: setLink }))}
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

function InviteDialog({
  onClose,
  onInvited,
}: {
  onClose: () => void;
  onInvited: (invited: SentLink) => Promise<void>;
}): JSX.Element {
  const [email, setEmail] = useState('');
  return (
    <ActionDialog
      title={t('operators.invite')}
      action={t('users.invite_do')}
      onClose={onClose}
      onAction={async () => {
        const { invitation } = await request('POST /api/operator/users', { body: { email } });
        await onInvited({ email, url: invitation.url });
      }}
    >
      <TextField
        label={t('log_in.email')}
        help={t('operators.invite_help')}
        type="email"
        autoFocus
        value={email}
        onInput={setEmail}
      />
    </ActionDialog>
  );
}

function actionsFor(
  { id: userId, email, status, twoStep }: Operator,
  on: { onChanged: () => Promise<void>; onLink: (link: SentLink) => void },
): MenuItem[] {
  const params = { userId };
  const change = (body: { status?: 'active' | 'disabled'; twoStep?: 'off' }) =>
    orToast(async () => {
      await request('PATCH /api/operator/users/{userId}', { params, body });
      await on.onChanged();
    });
  const makeLink = () =>
    orToast(async () => {
      const { url } = await request('POST /api/operator/users/{userId}/invitation', { params });
      on.onLink({ email, url });
    });
  return [
    ...(status === 'disabled'
      ? [{ label: t('users.enable'), icon: 'check' as const, onSelect: () => change({ status: 'active' }) }]
      : [
          { label: t('users.link'), icon: 'open' as const, onSelect: makeLink },
          {
            label: t('users.disable'),
            icon: 'close' as const,
            onSelect: () => change({ status: 'disabled' }),
          },
        ]),
    ...(twoStep
      ? [
          {
            label: t('account.turn_off'),
            icon: 'shield' as const,
            onSelect: () => change({ twoStep: 'off' }),
          },
        ]
      : []),
  ];
}

function columns(actions: (operator: Operator) => MenuItem[]): Column<Operator>[] {
  return [
    ...accountColumns(),
    {
      label: t('actions'),
      isActions: true,
      // Operators cannot lock themselves out.
      cell: (operator) =>
        operator.id === session.value?.user.id ? (
          <span class="muted">{t('users.you')}</span>
        ) : (
          <Menu label={t('users.actions', { email: operator.email })} items={actions(operator)}>
            <Icon name="more" />
          </Menu>
        ),
    },
  ];
}
