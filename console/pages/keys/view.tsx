import 'messages:page/keys';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { SecretDialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Badge, CopyText, EmptyState } from '../../kit/parts.tsx';
import type { Tone } from '../../kit/parts.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useCommands } from '../../shell/commands.ts';
import { useData } from '../../shell/data.ts';
import { List } from '../../shell/list.tsx';
import { PageFrame } from '../../shell/page.tsx';
import { query } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { CreateDialog, RevokeDialog, RotateDialog } from './actions.tsx';

type Open = { kind: 'create' } | { kind: 'rotate' | 'revoke'; key: ApiKey };
type State = 'active' | 'expired' | 'revoked';

const tones: Record<State, Tone> = { active: 'good', expired: 'warn', revoked: 'neutral' };

function stateOf({ revokedAt, expiresAt }: ApiKey): State {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

/** The API credentials of the organization. */
export default function KeysPage(): JSX.Element {
  const { cursor } = query.value;
  const loaded = useData('GET /api/keys', {
    query: { ...(cursor !== undefined && { cursor }) },
  });
  const [open, setOpen] = useState<Open>();
  const [credentials, setCredentials] = useState<string>();
  const create = () => setOpen({ kind: 'create' });
  useCommands([{ label: t('keys.create'), icon: 'plus', run: create }], 'keys');
  const button = (
    <Button kind="primary" icon="plus" onPress={create}>
      {t('keys.create')}
    </Button>
  );
  const close = () => setOpen(undefined);
  const onCreated = async (made: string) => {
    close();
    setCredentials(made);
    await loaded.reload();
  };
  return (
    <PageFrame title={t('keys.title')} actions={button}>
      <List
        caption={t('keys.title')}
        loaded={loaded}
        rows={loaded.data?.keys}
        next={loaded.data?.nextCursor}
        empty={
          <EmptyState icon="key" title={t('keys.none')} action={button}>
            {t('keys.none_text')}
          </EmptyState>
        }
        columns={columns(setOpen)}
        rowKey={({ publicKey }) => publicKey}
      />
      {open?.kind === 'create' && <CreateDialog onClose={close} onCreated={onCreated} />}
      {open?.kind === 'rotate' && <RotateDialog apiKey={open.key} onClose={close} onCreated={onCreated} />}
      {open?.kind === 'revoke' && (
        <RevokeDialog
          apiKey={open.key}
          onClose={close}
          onDone={async () => {
            close();
            await loaded.reload();
          }}
        />
      )}
      {credentials !== undefined && (
        <SecretDialog
          title={t('keys.credentials')}
          text={t('keys.credentials_text')}
          secret={credentials}
          onClose={() => setCredentials(undefined)}
        />
      )}
    </PageFrame>
  );
}

function columns(setOpen: (open: Open) => void): Column<ApiKey>[] {
  return [
    {
      label: t('keys.label'),
      cell: ({ label, publicKey }) => (
        <>
          <strong>{label ?? '–'}</strong>
          <small>
            <CopyText value={publicKey} label={t('keys.public')} />
          </small>
        </>
      ),
    },
    {
      label: t('lessons.status'),
      cell: (key) => <Badge tone={tones[stateOf(key)]}>{t(`keys.${stateOf(key)}`)}</Badge>,
    },
    {
      label: t('keys.scopes'),
      cell: ({ scopes }) => (scopes === null ? t('keys.all') : scopes.join(', ')),
    },
    {
      label: t('keys.used'),
      isEnd: true,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? '–' : <Time at={lastUsedAt} />),
    },
    {
      label: t('keys.expires'),
      isEnd: true,
      isMinor: true,
      cell: ({ expiresAt }) => (expiresAt === null ? '–' : <Time at={expiresAt} />),
    },
    {
      label: t('actions'),
      isActions: true,
      cell: (key) =>
        stateOf(key) === 'active' && (
          <Menu
            label={t('keys.actions', { label: key.label ?? key.publicKey })}
            items={[
              {
                label: t('keys.rotate'),
                icon: 'key',
                onSelect: () => setOpen({ kind: 'rotate', key }),
              },
              {
                label: t('keys.revoke'),
                icon: 'trash',
                isDanger: true,
                onSelect: () => setOpen({ kind: 'revoke', key }),
              },
            ]}
          >
            <Icon name="more" />
          </Menu>
        ),
    },
  ];
}
