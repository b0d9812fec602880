import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Routes } from '../../api-types.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { request } from '../../shell/api.ts';
import { session } from '../../shell/session.ts';
import { t } from '../../shell/text.ts';
import type { SentLink } from '../users/actions.tsx';

type Confirmation = Routes['POST /api/operator/users/{userId}/invitation']['body'];

/** Creates the account of another operator, and the link that sets its password. */
export function InviteDialog({
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

/** Asks for the operator's own password, and a code if two-step login is on, before an account can change hands. */
export function ConfirmDialog({
  title,
  email,
  onClose,
  onConfirm,
}: {
  title: string;
  email: string;
  onClose: () => void;
  onConfirm: (given: Confirmation) => Promise<void>;
}): JSX.Element {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const needsCode = session.value?.twoStep === 'on';
  return (
    <ActionDialog
      title={title}
      action={title}
      onClose={onClose}
      onAction={() => onConfirm({ password, ...(needsCode && { code }) })}
    >
      <p>{t('operators.confirm', { email })}</p>
      <TextField
        label={t('account.current')}
        type="password"
        autoComplete="current-password"
        required
        autoFocus
        value={password}
        onInput={setPassword}
      />
      {needsCode && (
        <TextField
          label={t('account.code')}
          help={t('account.or_recovery')}
          autoComplete="one-time-code"
          required
          value={code}
          onInput={setCode}
        />
      )}
    </ActionDialog>
  );
}
