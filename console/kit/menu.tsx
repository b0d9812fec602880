import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { hrefOf } from '../shell/router.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';

/** An entry of a menu; null draws a line. */
export type MenuItem = {
  label: string;
  icon?: IconName;
  isDanger?: boolean;
  /** Set for choices: whether it is the current one. */
  isChecked?: boolean;
} & ({ onSelect: () => unknown } | { to: string } | { href: string });

/**
 * A button that opens a menu (a popover). Arrow keys, Home and End move in it.
 *
 * @param props.children what the button shows
 * @param props.label the name of the button, if it shows an icon only
 */
export function Menu({
  items,
  label,
  buttonClass = 'icon-button',
  children,
}: {
  items: readonly (MenuItem | null)[];
  label?: string;
  buttonClass?: string;
  children: ComponentChildren;
}): JSX.Element {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        class={buttonClass}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popovertarget={id}
        title={label}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          menu.current?.showPopover();
        }}
      >
        {children}
        {label !== undefined && <span class="hidden-text">{label}</span>}
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        role="menu"
        class="menu"
        onKeyDown={(event) => moveFocus(event, menu.current)}
        onBeforeToggle={({ newState }) => {
          if (newState === 'open') place(menu.current, button.current);
        }}
        onToggle={({ newState }) => {
          setOpen(newState === 'open');
          if (newState === 'open') entriesOf(menu.current)[0]?.focus();
        }}
        onClick={() => menu.current?.hidePopover()}
      >
        {items.map((item, index) =>
          item === null ? <hr key={index} /> : <Entry key={item.label} item={item} />,
        )}
      </div>
    </>
  );
}

function Entry({ item }: { item: MenuItem }): JSX.Element {
  const { label, icon, isDanger, isChecked } = item;
  const common = {
    role: isChecked === undefined ? ('menuitem' as const) : ('menuitemradio' as const),
    'aria-checked': isChecked,
    tabIndex: -1,
    class: isDanger ? 'is-danger' : undefined,
  };
  const content = (
    <>
      {icon && <Icon name={icon} />}
      <span>{label}</span>
      {isChecked === true && <Icon name="check" />}
    </>
  );
  if ('onSelect' in item) {
    return (
      <button type="button" {...common} onClick={() => void item.onSelect()}>
        {content}
      </button>
    );
  }
  return (
    <a {...common} href={'to' in item ? hrefOf(item.to) : item.href}>
      {content}
    </a>
  );
}

function entriesOf(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
}

function moveFocus(event: KeyboardEvent, menu: HTMLElement | null): void {
  const entries = entriesOf(menu);
  const current = entries.indexOf(document.activeElement as HTMLElement);
  const next = {
    ArrowDown: (current + 1) % entries.length,
    ArrowUp: (current - 1 + entries.length) % entries.length,
    Home: 0,
    End: entries.length - 1,
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  entries[next]?.focus();
}

/** Places a menu at its button: below it, or above it near the end of the window. */
function place(menu: HTMLElement | null, button: HTMLElement | null): void {
  if (menu === null || button === null) return;
  const at = button.getBoundingClientRect();
  const isInStartHalf = at.left + at.width / 2 < innerWidth / 2;
  const isAbove = at.bottom > innerHeight * 0.7;
  menu.style.setProperty('inset', 'auto');
  if (isInStartHalf) menu.style.setProperty('left', `${Math.max(8, at.left)}px`);
  else menu.style.setProperty('right', `${Math.max(8, document.documentElement.clientWidth - at.right)}px`);
  if (isAbove) menu.style.setProperty('bottom', `${innerHeight - at.top + 4}px`);
  else menu.style.setProperty('top', `${at.bottom + 4}px`);
}
