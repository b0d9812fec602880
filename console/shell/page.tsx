import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Icon } from '../kit/icon.tsx';
import { Link } from './router.tsx';
import { t } from './text.ts';

/** The parameters of a page's path. */
export type PageProps = Record<string, string>;

/** The frame of a page: where it is, its title, its actions. */
export function PageFrame({
  title,
  parents = [],
  status,
  actions,
  tabs,
  children,
}: {
  title: string;
  parents?: readonly { label: string; to: string }[];
  status?: ComponentChildren;
  actions?: ComponentChildren;
  tabs?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  useEffect(() => {
    document.title = `${title} · Lectern`;
  }, [title]);
  return (
    <div class="page">
      <header class="page-head">
        {parents.length > 0 && (
          <nav class="crumbs" aria-label={t('shell.breadcrumb')}>
            {parents.map(({ label, to }) => (
              <Link key={to} to={to}>
                <Icon name="back" />
                {label}
              </Link>
            ))}
          </nav>
        )}
        <div class="page-title">
          <h1>{title}</h1>
          {status}
          <div class="page-actions">{actions}</div>
        </div>
        {tabs}
      </header>
      {children}
    </div>
  );
}
