import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { encode } from 'uqr';
import type { TwoStepSetup } from '../../api-types.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { CopyText, ErrorState, Progress } from '../../kit/parts.tsx';
import { toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import type { ApiError } from '../../shell/api.ts';
import { t } from '../../shell/text.ts';

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

/** Shows the secret for an authenticator app, which a code of the app confirms. */
export function SetUpDialog({
  isOn,
  onClose,
  onDone,
}: {
  /** Whether another app is in use, of which a code is then needed. */
  isOn: boolean;
  onClose: () => void;
  onDone: (recoveryCodes: readonly string[]) => void;
}): JSX.Element {
  const [setup, setSetup] = useState<TwoStepSetup>();
  const [failure, setFailure] = useState<ApiError>();
  const [password, setPassword] = useState('');
  const [currentCode, setCurrentCode] = useState('');
  const [code, setCode] = useState('');
  const begin = () => {
    setFailure(undefined);
    request('POST /api/session/two-step').then(setSetup, setFailure);
  };
  useEffect(begin, []);
  return (
    <ActionDialog
      title={t('account.set_up_title')}
      action={t('account.turn_on')}
      isDisabled={setup === undefined}
      onClose={onClose}
      onAction={async () => {
        const body = { password, secret: setup?.secret ?? '', code, ...(isOn && { currentCode }) };
        onDone((await request('PUT /api/session/two-step', { body })).recoveryCodes);
      }}
    >
      <p>{t('account.scan')}</p>
      {failure !== undefined && <ErrorState error={failure} onRetry={begin} />}
      {failure === undefined && setup === undefined && (
        <Progress value={undefined} label={t('account.set_up_title')} />
      )}
      {setup && (
        <>
          <QrCode text={setup.uri} label={t('account.qr')} />
          <p>
            {t('account.secret')} <CopyText value={setup.secret} label={t('account.secret')} />
          </p>
          <p>
            <a href={setup.uri}>{t('account.open_app')}</a>
          </p>
        </>
      )}
      <CodeField label={t('account.code')} value={code} onInput={setCode} />
      {isOn && (
        <CodeField
          label={t('account.present_code')}
          help={t('account.or_recovery')}
          value={currentCode}
          onInput={setCurrentCode}
        />
      )}
      <TextField
        label={t('account.current')}
        help={t('account.sessions_end')}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onInput={setPassword}
      />
    </ActionDialog>
  );
}

function CodeField(props: {
  label: string;
  help?: string;
  autoFocus?: boolean;
  value: string;
  onInput: (value: string) => void;
}): JSX.Element {
  return <TextField {...props} required autoComplete="one-time-code" />;
}

/** Does something that needs a code of the app. @param props.onCode closes the dialog when it succeeds */
export function CodeDialog({
  title,
  text,
  onClose,
  onCode,
}: {
  title: string;
  text: string;
  onClose: () => void;
  onCode: (code: string) => Promise<void>;
}): JSX.Element {
  const [code, setCode] = useState('');
  return (
    <ActionDialog title={title} action={title} onClose={onClose} onAction={() => onCode(code)}>
      <p>{text}</p>
      <CodeField
        label={t('account.code')}
        help={t('account.or_recovery')}
        autoFocus
        value={code}
        onInput={setCode}
      />
    </ActionDialog>
  );
}

/** A QR code, dark on light in every color scheme, because some readers need that. */
function QrCode({ text, label }: { text: string; label: string }): JSX.Element {
  const { data, size } = encode(text, { border: 4 });
  const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')));
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <path d={squares.join('')} />
    </svg>
  );
}
