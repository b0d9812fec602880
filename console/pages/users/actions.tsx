import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ActionDialog, SecretDialog } from '../../kit/dialog.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { t } from '../../shell/text.ts';

export const roles = ['teacher', 'author', 'admin'] as const;

/** A link that sets a password. */
export interface SentLink {
  email: string;
  url: string;
}

/** Shows a link that sets a password. */
export function LinkDialog({
  link: { email, url },
  onClose,
}: {
  link: SentLink;
  onClose: () => void;
}): JSX.Element {
  return (
    <SecretDialog
      title={t('users.link_title', { email })}
      text={t('users.link_text')}
      secret={url}
      onClose={onClose}
    />
  );
}

/** Creates an account, and the link that sets its password. */
export function InviteDialog({
  onClose,
  onInvited,
}: {
  onClose: () => void;
  onInvited: (invited: SentLink) => Promise<void>;
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

/** Removes an account, after saying what follows. @param props.remove sends the request */
export function RemoveDialog({
  email,
  action,
  onClose,
  remove,
  onRemoved,
}: {
  email: string;
  action: string;
  onClose: () => void;
  remove: () => Promise<unknown>;
  onRemoved: () => Promise<void>;
}): JSX.Element {
  return (
    <ActionDialog
      title={t('users.remove_title', { email })}
      action={action}
      isDanger
      onClose={onClose}
      onAction={async () => {
        await remove();
        toast(t('users.removed', { email }));
        onClose();
        await onRemoved();
      }}
    >
      <p>{t('users.remove_text')}</p>
    </ActionDialog>
  );
}
