import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { Progress } from '../../kit/parts.tsx';
import { messageOf } from '../../kit/toast.tsx';
import { ApiError, request } from '../../shell/api.ts';
import { LogInFrame } from '../../shell/log-in.tsx';
import { hrefOf, navigate } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';

interface Invitation {
  email: string;
  organization: string | null;
}

/** Sets a password with the link of an invitation. The token is in the hash, which browsers do not send. */
export default function InvitationPage(): JSX.Element {
  const [token] = useState(() => location.hash.slice(1));
  const [invitation, setInvitation] = useState<Invitation>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    document.title = `${t('invitation.title')} · Lectern`;
    // The history is no place for the token.
    navigate('/invitation', { replace: true });
    request('POST /api/invitation', { body: { token } }).then(setInvitation, (failure: unknown) => {
      const isGone = failure instanceof ApiError && failure.status !== 0 && failure.status !== 429;
      setError(isGone ? t('invitation.gone') : messageOf(failure));
    });
  }, [token]);
  return (
    <LogInFrame>
      <h2>{t('invitation.title')}</h2>
      {error !== undefined && <p role="alert">{error}</p>}
      {error === undefined && invitation === undefined && (
        <Progress value={undefined} label={t('invitation.title')} />
      )}
      {invitation && <PasswordForm token={token} invitation={invitation} />}
    </LogInFrame>
  );
}

function PasswordForm({
  token,
  invitation: { email, organization },
}: {
  token: string;
  invitation: Invitation;
}): JSX.Element {
  const [password, setPassword] = useState('');
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const accept = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await request('POST /api/invitation/accept', { body: { token, password } });
      // Otherwise the login page says what is missing, such as a code.
      await request('POST /api/session', { body: { email, password } }).catch(() => undefined);
      location.assign(hrefOf('/'));
    } catch (failure) {
      setError(messageOf(failure));
      setBusy(false);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void accept();
      }}
    >
      <p class="muted">
        {organization === null
          ? t('invitation.operator', { email })
          : t('invitation.text', { email, organization })}
      </p>
      <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
      <TextField
        label={t('invitation.password')}
        help={t('invitation.password_help')}
        type="password"
        name="new-password"
        autoComplete="new-password"
        required
        autoFocus
        error={error}
        value={password}
        onInput={setPassword}
      />
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {t('invitation.accept')}
      </Button>
    </form>
  );
}
