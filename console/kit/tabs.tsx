import type { JSX } from 'preact';
import { Link, path } from '../shell/router.tsx';

/** Links between the parts of a page, each with its own URL. */
export function Tabs({
  label,
  items,
}: {
  label: string;
  items: readonly { label: string; to: string }[];
}): JSX.Element {
  return (
    <nav class="tabs" aria-label={label}>
      {items.map((item) => (
        <Link key={item.to} to={item.to} aria-current={path.value === item.to ? 'page' : undefined}>
          {item.label}
        </Link>
      ))}
    </nav>
  );
}
