import type { ButtonHTMLAttributes, ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hrefOf } from '../shell/router.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';

interface ButtonProps {
  children: ComponentChildren;
  icon?: IconName;
  kind?: 'primary' | 'plain' | 'quiet' | 'danger';
  /** Runs on a press. While its promise is pending, the button shows that it works and does nothing more. */
  onPress?: () => unknown;
  type?: 'button' | 'submit';
  isBusy?: boolean;
  isDisabled?: boolean;
  /** A path of the console, which makes it a link. */
  to?: string;
  title?: string;
}

/** A button, or a link that looks like one. */
export function Button(props: ButtonProps): JSX.Element {
  const { children, icon, kind = 'plain', onPress, type = 'button', isDisabled, to, title } = props;
  const [isRunning, setRunning] = useState(false);
  const isBusy = props.isBusy === true || isRunning;
  const content = (
    <>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </>
  );
  if (to !== undefined) {
    return (
      <a class={`button is-${kind}`} href={hrefOf(to)} title={title}>
        {content}
      </a>
    );
  }
  const press = () => {
    const result = onPress?.();
    if (!(result instanceof Promise)) return;
    setRunning(true);
    void result.finally(() => setRunning(false));
  };
  return (
    <button
      type={type}
      class={`button is-${kind}${isBusy ? ' is-busy' : ''}`}
      disabled={isDisabled === true}
      aria-disabled={isBusy}
      title={title}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else if (onPress) press();
      }}
    >
      {content}
    </button>
  );
}

/** A button that shows an icon only. @param props.label its name, also shown as a tooltip */
export function IconButton({
  label,
  icon,
  onPress,
  ...rest
}: {
  label: string;
  icon: IconName;
  onPress?: () => unknown;
} & Omit<ButtonHTMLAttributes, 'label' | 'icon' | 'onClick'>): JSX.Element {
  return (
    <button type="button" {...rest} class="icon-button" title={label} onClick={() => void onPress?.()}>
      <Icon name={icon} />
      <span class="hidden-text">{label}</span>
    </button>
  );
}
