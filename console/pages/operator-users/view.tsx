import 'messages:page/operators';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Operator } from '../../api-types.ts';
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
import { LinkDialog, RemoveDialog } from '../users/actions.tsx';
import type { SentLink } from '../users/actions.tsx';
import { accountColumns } from '../users/data.tsx';
import { ConfirmDialog, InviteDialog } from './actions.tsx';

/** The dialog that is open about an operator. */
interface Open {
  kind: 'link' | 'two_step' | 'remove';
  operator: Operator;
}

/** The accounts of those who run the installation. */
export default function OperatorsPage(): JSX.Element {
  const { cursor } = query.value;
  const loaded = useData('GET /api/operator/users', { query: { cursor } });
  const [isInviting, setInviting] = useState(false);
  const [link, setLink] = useState<SentLink>();
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
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
        columns={columns((operator) => actionsFor(operator, { onChanged: loaded.reload, setOpen }))}
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
      {open?.kind === 'remove' && (
        <RemoveDialog
          email={open.operator.email}
          action={t('operators.remove')}
          remove={() =>
            request('DELETE /api/operator/users/{userId}', { params: { userId: open.operator.id } })
          }
          onClose={close}
          onRemoved={loaded.reload}
        />
      )}
      {(open?.kind === 'link' || open?.kind === 'two_step') && (
        <ConfirmDialog
          title={open.kind === 'link' ? t('users.link') : t('account.turn_off')}
          email={open.operator.email}
          onClose={close}
          onConfirm={async (given) => {
            const { id: userId, email } = open.operator;
            const params = { userId };
            if (open.kind === 'link') {
              const { url } = await request('POST /api/operator/users/{userId}/invitation', {
                params,
                body: given,
              });
              setLink({ email, url });
            } else {
              const body = { ...given, twoStep: 'off' as const };
              await request('PATCH /api/operator/users/{userId}', { params, body });
            }
            close();
            await loaded.reload();
          }}
        />
      )}
    </PageFrame>
  );
}

function actionsFor(
  operator: Operator,
  on: { onChanged: () => Promise<void>; setOpen: (open: Open) => void },
): MenuItem[] {
  const { id: userId, status, twoStep } = operator;
  const change = (body: { status: 'active' | 'disabled' }) =>
    orToast(async () => {
      await request('PATCH /api/operator/users/{userId}', { params: { userId }, body });
      await on.onChanged();
    });
  const open = (kind: Open['kind']) => () => on.setOpen({ kind, operator });
  return [
    ...(status === 'disabled'
      ? [{ label: t('users.enable'), icon: 'check' as const, onSelect: () => change({ status: 'active' }) }]
      : [
          { label: t('users.link'), icon: 'open' as const, onSelect: open('link') },
          {
            label: t('users.disable'),
            icon: 'close' as const,
            onSelect: () => change({ status: 'disabled' }),
          },
        ]),
    ...(twoStep
      ? [{ label: t('account.turn_off'), icon: 'shield' as const, onSelect: open('two_step') }]
      : []),
    { label: t('operators.remove'), icon: 'trash', isDanger: true, onSelect: open('remove') },
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
