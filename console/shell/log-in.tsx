import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { UserSession } from '../api-types.ts';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { TextField } from '../kit/field.tsx';
import { messageOf } from '../kit/toast.tsx';
import { ApiError, base, request } from './api.ts';
import { hrefOf } from './router.tsx';
import { renewal, session } from './session.ts';
import { t } from './text.ts';

/** Finds out who is logged in. @returns an error if the service does not say it */
export async function startSession(): Promise<ApiError | null> {
  try {
    session.value = await request('GET /api/session');
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.status === 401 ? null : error;
  }
}

/** Ends the session, and shows the login page. */
export async function logOut(): Promise<void> {
  await request('DELETE /api/session');
  location.assign(hrefOf('/'));
}

/** The page at any URL of the console without a session. The URL stays, so that the page opens afterwards. */
export function LogInPage(): JSX.Element {
  return (
    <LogInFrame>
      <LogInForm
        onDone={(opened) => {
          session.value = opened;
        }}
      />
    </LogInFrame>
  );
}

/** The frame of pages for visitors without a session. */
export function LogInFrame({ children }: { children: ComponentChildren }): JSX.Element {
  return (
    <main class="log-in">
      <div class="card">
        <h1>
          <img src={`${base}/favicon.svg`} alt="" width="32" height="32" />
          Lectern
        </h1>
        {children}
      </div>
      <p class="muted">{t('log_in.learners')}</p>
    </main>
  );
}

/** Asks a user whose session has ended to log in again. The page behind it stays as it is. */
export function RenewalDialog(): JSX.Element | null {
  const waiting = renewal.value;
  if (waiting === null) return null;
  return (
    <Dialog title={t('log_in.again')} onClose={() => waiting.finish(false)}>
      <p class="muted">{t('log_in.again_text')}</p>
      <LogInForm
        email={session.value?.user.email}
        onDone={(opened) => {
          const isOther = opened.user.id !== session.value?.user.id;
          session.value = opened;
          // What is on the page belongs to someone else.
          if (isOther) location.reload();
          else waiting.finish(true);
        }}
      />
    </Dialog>
  );
}

function LogInForm({
  email: known = '',
  onDone,
}: {
  email?: string | undefined;
  onDone: (session: UserSession) => void;
}): JSX.Element {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  /** Of an authenticator app; undefined until the service asks for it. */
  const [code, setCode] = useState<string>();
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      onDone(
        await request('POST /api/session', {
          body: { email, password, ...(code !== undefined && { code }) },
        }),
      );
    } catch (failure) {
      if (failure instanceof ApiError && failure.code === 'CODE_REQUIRED') setCode('');
      else if (failure instanceof ApiError && failure.status === 401)
        setError(t(code === undefined ? 'log_in.wrong' : 'log_in.wrong_code'));
      else setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
    >
      <TextField
        label={t('log_in.email')}
        type="email"
        name="email"
        autoComplete="username"
        required
        autoFocus={known === ''}
        value={email}
        onInput={setEmail}
      />
      <TextField
        label={t('log_in.password')}
        type="password"
        name="password"
        autoComplete="current-password"
        required
        autoFocus={known !== ''}
        error={code === undefined ? error : undefined}
        value={password}
        onInput={setPassword}
      />
      {code !== undefined && (
        <TextField
          label={t('log_in.code')}
          help={t('log_in.code_help')}
          name="code"
          autoFocus
          autoComplete="one-time-code"
          error={error}
          value={code}
          onInput={setCode}
        />
      )}
      <Button type="submit" kind="primary" isBusy={isBusy}>
        {t('log_in.submit')}
      </Button>
    </form>
  );
}
