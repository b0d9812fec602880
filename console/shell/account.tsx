import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ActionDialog } from '../kit/dialog.tsx';
import { TextField } from '../kit/field.tsx';
import { toast } from '../kit/toast.tsx';
import { request } from './api.ts';
import { t } from './text.ts';

/** Changes the user's own password, which ends the user's other sessions. */
export function PasswordDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  return (
    <ActionDialog
      title={t('account.password')}
      action={t('save')}
      onClose={onClose}
      onAction={async () => {
        await request('PUT /api/session/password', { body: { currentPassword, newPassword } });
        toast(t('account.password_changed'));
        onClose();
      }}
    >
      <TextField
        label={t('account.current')}
        type="password"
        autoComplete="current-password"
        required
        autoFocus
        value={currentPassword}
        onInput={setCurrent}
      />
      <TextField
        label={t('account.new')}
        help={t('account.new_help')}
        type="password"
        autoComplete="new-password"
        required
        value={newPassword}
        onInput={setNew}
      />
    </ActionDialog>
  );
}
