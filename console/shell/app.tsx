import { signal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../kit/button.tsx';
import { EmptyState, ErrorState } from '../kit/parts.tsx';
import { Toasts } from '../kit/toast.tsx';
import type { ApiError } from './api.ts';
import { useLazy } from './lazy.ts';
import { LogInPage, RenewalDialog } from './log-in.tsx';
import { PageFrame } from './page.tsx';
import type { PageProps } from './page.tsx';
import { navigate, path } from './router.tsx';
import { findPage, navigation } from './routes.ts';
import { session } from './session.ts';
import { Sidebar, TopBar } from './sidebar.tsx';
import { t } from './text.ts';

/** Whether the command palette is open. */
const isPaletteOpen = signal(false);

/** @param props.startError set if the service did not say who is logged in */
export function App({ startError }: { startError: ApiError | null }): JSX.Element {
  if (path.value === invitationPath) return <Invitation />;
  if (startError !== null && session.value === null)
    return (
      <main class="log-in">
        <ErrorState error={startError} onRetry={() => location.reload()} />
      </main>
    );
  if (session.value === null) return <LogInPage />;
  return <Shell />;
}

/** The page of invitations, for visitors without an account. */
const invitationPath = '/invitation';

function Invitation(): JSX.Element | null {
  const Loaded = useLazy(() => import('../pages/invitation/view.tsx').then(({ default: Page }) => Page));
  return Loaded && <Loaded />;
}

function Shell(): JSX.Element {
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
      event.preventDefault();
      isPaletteOpen.value = !isPaletteOpen.value;
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  const openPalette = () => {
    isPaletteOpen.value = true;
  };
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={skip}>
        {t('shell.skip')}
      </a>
      <TopBar onSearch={openPalette} />
      <Sidebar onSearch={openPalette} />
      <main id="content" tabIndex={-1}>
        <CurrentPage />
      </main>
      {isPaletteOpen.value && <Palette />}
      <RenewalDialog />
      <Toasts />
    </div>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Palette(): JSX.Element | null {
  const Loaded = useLazy(() => import('./palette.tsx').then(({ CommandPalette }) => CommandPalette));
  const close = () => {
    isPaletteOpen.value = false;
  };
  return Loaded && <Loaded onClose={close} />;
}

/** What is shown of the page: its component, once it is loaded. While the next page is loaded, the last one stays. */
interface ShownPage {
  Component: ComponentType<{ params: PageProps }>;
  params: PageProps;
}

function CurrentPage(): JSX.Element {
  const found = findPage(path.value);
  const load = found?.page.load;
  const [shown, setShown] = useState<ShownPage>();
  const [hasFailed, setFailed] = useState(false);
  const key = found === null ? null : found.page.path + JSON.stringify(found.params);
  useEffect(() => {
    let isCurrent = true;
    setFailed(false);
    load?.().then(
      ({ default: Component }) => isCurrent && setShown({ Component, params: found?.params ?? {} }),
      () => isCurrent && setFailed(true),
    );
    return () => {
      isCurrent = false;
    };
    // The key stands for the page and its parameters.
  }, [key]);
  if (found === null) return <MissingPage />;
  if (hasFailed)
    return (
      // An upgrade has replaced the files of the console.
      <PageFrame title={t('error.page')}>
        <EmptyState
          icon="warning"
          title={t('error.page_text')}
          action={<Button onPress={() => location.reload()}>{t('error.reload')}</Button>}
        />
      </PageFrame>
    );
  return shown === undefined ? (
    <></>
  ) : (
    <shown.Component key={JSON.stringify(shown.params)} params={shown.params} />
  );
}

function MissingPage(): JSX.Element {
  const first = navigation.value[0]?.items[0];
  return (
    <PageFrame title={t('error.missing')}>
      <EmptyState
        icon="search"
        title={t('error.missing_text')}
        action={first && <Button onPress={() => navigate(first.to)}>{t(first.label)}</Button>}
      />
    </PageFrame>
  );
}
