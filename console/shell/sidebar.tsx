import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { supportedLanguages } from '../../shared/i18n/message.ts';
import { schemes } from '../../shared/theme/tokens.ts';
import { IconButton } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Icon } from '../kit/icon.tsx';
import { Menu } from '../kit/menu.tsx';
import { ToastHistory } from '../kit/toast.tsx';
import { base } from './api.ts';
import { logOut } from './log-in.tsx';
import { chooseScheme, scheme } from './preferences.ts';
import { Link, navigate, path } from './router.tsx';
import { accountPath, isOpen, navigation } from './routes.ts';
import { session } from './session.ts';
import { chooseLanguage, locale, t } from './text.ts';

/** Whether the navigation is open on a phone, where it covers the page. */
const isNavigationOpen = signal(false);

/** The bar above the page on phones. */
export function TopBar({ onSearch }: { onSearch: () => void }): JSX.Element {
  return (
    <header class="top-bar">
      <IconButton
        label={t('shell.menu')}
        icon="menu"
        aria-expanded={isNavigationOpen.value}
        onPress={() => {
          isNavigationOpen.value = !isNavigationOpen.value;
        }}
      />
      <Brand />
      <IconButton label={t('palette.title')} icon="search" onPress={onSearch} />
    </header>
  );
}

function Brand(): JSX.Element {
  return (
    <Link to="/" class="brand">
      <img src={`${base}/favicon.svg`} alt="" width="24" height="24" />
      <span>Lectern</span>
    </Link>
  );
}

/** The navigation beside the page. */
export function Sidebar({ onSearch }: { onSearch: () => void }): JSX.Element {
  const [showsNotices, setShowsNotices] = useState(false);
  useEffect(() => {
    isNavigationOpen.value = false;
    // Closes when a page is opened.
  }, [path.value]);
  const current = session.value;
  return (
    <aside
      aria-label={t('shell.sidebar')}
      class={`sidebar${isNavigationOpen.value ? ' is-open' : ''}`}
      onKeyDown={({ key }) => {
        if (key === 'Escape') isNavigationOpen.value = false;
      }}
    >
      <div class="sidebar-head">
        <Brand />
        <IconButton label={t('notices.title')} icon="bell" onPress={() => setShowsNotices(true)} />
      </div>
      <button type="button" class="search-button" onClick={onSearch}>
        <Icon name="search" />
        <span>{t('palette.title')}</span>
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav aria-label={t('shell.navigation')}>
        {navigation.value.map(({ label, items }, index) => (
          <div key={index} class="nav-group">
            {label !== null && <h2>{t(label)}</h2>}
            <ul>
              {items.map((item) => (
                <li key={item.to}>
                  <Link to={item.to} aria-current={isOpen(item.to) ? 'page' : undefined}>
                    <Icon name={item.icon} />
                    {t(item.label)}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <AccountMenu
        name={current?.organization?.name ?? t('shell.operator')}
        email={current?.user.email ?? ''}
      />
      {showsNotices && (
        <Dialog title={t('notices.title')} onClose={() => setShowsNotices(false)}>
          <ToastHistory />
        </Dialog>
      )}
    </aside>
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

function AccountMenu({ name, email }: { name: string; email: string }): JSX.Element {
  const languages = new Intl.DisplayNames(['en'], { type: 'language' });
  const ownName = (tag: string) =>
    new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? languages.of(tag) ?? tag;
  return (
    <div class="account">
      <Menu
        buttonClass="account-button"
        items={[
          ...[undefined, ...schemes].map((one) => ({
            label: t(`scheme.${one ?? 'device'}`),
            isChecked: scheme.value === one,
            onSelect: () => chooseScheme(one),
          })),
          null,
          ...supportedLanguages().map((tag) => ({
            label: ownName(tag),
            isChecked: locale.value.split('-')[0] === tag,
            onSelect: () => chooseLanguage(tag),
          })),
          null,
          { label: t('account.title'), icon: 'person' as const, onSelect: () => navigate(accountPath) },
          { label: t('shell.log_out'), icon: 'forward' as const, onSelect: logOut },
        ]}
      >
        <span class="account-name">
          <strong>{name}</strong>
          <span>{email}</span>
        </span>
        <Icon name="more" />
      </Menu>
    </div>
  );
}
