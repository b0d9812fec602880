import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { User } from '../../api-types.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { request } from '../../shell/api.ts';
import { t } from '../../shell/text.ts';

export const roles = ['teacher', 'author', 'admin'] as const;

/** Creates an account, and the link that sets its password. */
export function InviteDialog({
  onClose,
  onInvited,
}: {
  onClose: () => void;
  onInvited: (invited: { email: string; url: string }) => Promise<void>;
}): JSX.Element {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<(typeof roles)[number]>('teacher');
  return (
    <ActionDialog
      title={t('users.invite')}
      action={t('users.invite_do')}
      onClose={onClose}
      onAction={async () => {
        const { invitation } = await request('POST /api/users', { body: { email, role } });
        await onInvited({ email, url: invitation.url });
      }}
    >
      <TextField label={t('log_in.email')} type="email" autoFocus value={email} onInput={setEmail} />
      <SelectField
        label={t('users.role')}
        help={t(`role.${role}_help`)}
        value={role}
        options={roles.map((value) => ({ value, label: t(`role.${value}`) }))}
        onChange={setRole}
      />
    </ActionDialog>
  );
}

/** Removes an account, after saying what follows. */
export function RemoveDialog({
  user,
  onClose,
  onRemoved,
}: {
  user: User;
  onClose: () => void;
  onRemoved: () => Promise<void>;
}): JSX.Element {
  return (
    <ActionDialog
      title={t('users.remove_title', { email: user.email })}
      action={t('users.remove')}
      isDanger
      onClose={onClose}
      onAction={async () => {
        await request('DELETE /api/users/{userId}', { params: { userId: user.id } });
        await onRemoved();
      }}
    >
      <p>{t('users.remove_text')}</p>
    </ActionDialog>
  );
}
