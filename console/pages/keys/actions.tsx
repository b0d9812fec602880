import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../api-types.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../kit/field.tsx';
import { toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { t } from '../../shell/text.ts';

type Scope = NonNullable<ApiKey['scopes']>[number];

const scopes: readonly Scope[] = [
  'read',
  'content',
  'tokens',
  'learners',
  'erase',
  'retention',
  'deliveries',
  'audit',
  'accounts',
  'platforms',
  'organization',
];

/** Creates credentials with chosen scopes. */
export function CreateDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (credentials: string) => Promise<void>;
}): JSX.Element {
  const [label, setLabel] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['read', 'tokens']);
  const [expires, setExpires] = useState('');
  return (
    <ActionDialog
      title={t('keys.create')}
      action={t('keys.create')}
      onClose={onClose}
      onAction={async () => {
        const expiresAt = expires === '' ? null : new Date(expires).toISOString();
        const body = { label, scopes: [...chosen], expiresAt };
        const { credentials } = await request('POST /api/keys', { body });
        await onCreated(credentials);
      }}
    >
      <TextField
        label={t('keys.label')}
        help={t('keys.label_help')}
        autoFocus
        value={label}
        onInput={setLabel}
      />
      <fieldset class="choices-field is-list">
        <legend>{t('keys.scopes')}</legend>
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            label={scope}
            help={t(`scope.${scope}`)}
            isChecked={chosen.includes(scope)}
            onChange={(isChecked) =>
              setChosen(isChecked ? [...chosen, scope] : chosen.filter((other) => other !== scope))
            }
          />
        ))}
      </fieldset>
      <TextField
        label={t('keys.expires_optional')}
        type="datetime-local"
        value={expires}
        onInput={setExpires}
      />
    </ActionDialog>
  );
}

const overlaps = ['0', '24', '168'] as const;

/** Replaces credentials. For a while, both work, so that servers change without a gap. */
export function RotateDialog({
  apiKey: { publicKey, label },
  onClose,
  onCreated,
}: {
  apiKey: ApiKey;
  onClose: () => void;
  onCreated: (credentials: string) => Promise<void>;
}): JSX.Element {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]>('24');
  return (
    <ActionDialog
      title={t('keys.rotate_title', { label: label ?? publicKey })}
      action={t('keys.rotate')}
      onClose={onClose}
      onAction={async () => {
        const { credentials } = await request('POST /api/keys/{publicKey}/rotate', {
          params: { publicKey },
          body: { overlapHours: Number(overlap) },
        });
        await onCreated(credentials);
      }}
    >
      <SelectField
        label={t('keys.overlap')}
        value={overlap}
        options={overlaps.map((value) => ({ value, label: t(`keys.overlap_${value}`) }))}
        onChange={setOverlap}
      />
    </ActionDialog>
  );
}

/** Revokes credentials, after saying what follows. */
export function RevokeDialog({
  apiKey: { publicKey, label },
  onClose,
  onDone,
}: {
  apiKey: ApiKey;
  onClose: () => void;
  onDone: () => Promise<void>;
}): JSX.Element {
  const name = label ?? publicKey;
  return (
    <ActionDialog
      title={t('keys.revoke_title', { label: name })}
      action={t('keys.revoke')}
      isDanger
      onClose={onClose}
      onAction={async () => {
        await request('DELETE /api/keys/{publicKey}', { params: { publicKey } });
        toast(t('keys.revoked_toast', { label: name }));
        await onDone();
      }}
    >
      <p>{t('keys.revoke_text')}</p>
    </ActionDialog>
  );
}
