import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../shell/api.ts';
import { t } from '../shell/text.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';
import { messageOf } from './toast.tsx';

export type Tone = 'good' | 'bad' | 'warn' | 'active' | 'neutral';

/** A state in one or two words. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`badge is-${tone}`}>{children}</span>;
}

const noticeIcons = { good: 'check', bad: 'warning', warn: 'warning' } as const;

/** A message on the page. */
export function Notice({
  tone,
  title,
  children,
}: {
  tone: keyof typeof noticeIcons;
  title?: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`notice is-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={noticeIcons[tone]} />
      <div>
        {title !== undefined && <strong>{title}</strong>}
        {children}
      </div>
    </div>
  );
}

/** What a list shows when it has nothing: why, and the next step. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {action !== undefined && <div class="actions">{action}</div>}
    </div>
  );
}

/** What a page shows in place of data that did not load. */
export function ErrorState({ error, onRetry }: { error: ApiError; onRetry: () => unknown }): JSX.Element {
  const isMissing = error.status === 404;
  return (
    <EmptyState
      icon="warning"
      title={isMissing ? t('error.missing') : t('error.failed')}
      action={isMissing ? undefined : <Button onPress={onRetry}>{t('error.retry')}</Button>}
    >
      {isMissing ? t('error.missing_text') : messageOf(error)}
    </EmptyState>
  );
}

const copiedMs = 1_500;

/** A text that a press copies. @param props.label its name for screen readers, such as "lesson id" */
export function CopyText({
  value,
  label,
  shown,
}: {
  value: string;
  label: string;
  shown?: string;
}): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <button
      type="button"
      class={`copy${isCopied ? ' is-copied' : ''}`}
      title={isCopied ? t('copied') : t('copy', { what: label })}
      onClick={() => void copyText(value).then(setCopied)}
    >
      <code>{shown ?? value}</code>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span class="hidden-text" aria-live="polite">
        {isCopied ? t('copied') : label}
      </span>
    </button>
  );
}

/** Copies a text. Pages without HTTPS, such as those of a trial in a local network, have no clipboard API. */
async function copyText(text: string): Promise<boolean> {
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- missing without HTTPS
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  const field = document.createElement('textarea');
  field.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else copies without HTTPS
  const isDone = document.execCommand('copy');
  field.remove();
  return isDone;
}

/** Several lines to copy, such as a snippet of HTML. */
export function CodeBlock({ code, label }: { code: string; label: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  return (
    <div class="code-block">
      <pre tabIndex={0} aria-label={label}>
        <code>{code}</code>
      </pre>
      <Button icon={isCopied ? 'check' : 'copy'} onPress={() => copyText(code).then(setCopied)}>
        {isCopied ? t('copied') : t('copy', { what: '' }).trim()}
      </Button>
    </div>
  );
}

/** A bar of progress. @param props.value from 0 to 1; undefined while it is unknown */
export function Progress({ value, label }: { value: number | undefined; label: string }): JSX.Element {
  return <progress class="progress" aria-label={label} max={1} {...(value !== undefined && { value })} />;
}

/** Names and values. */
export function Facts({
  items,
}: {
  items: readonly (readonly [name: string, value: ComponentChildren] | false)[];
}): JSX.Element {
  return (
    <dl class="facts">
      {items.map(
        (item) =>
          item !== false && (
            <div key={item[0]}>
              <dt>{item[0]}</dt>
              <dd>{item[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

const pauseMs = 250;

/** A field to search a list. It reports the text when the user pauses or leaves it. */
export function SearchField({
  label,
  value,
  onSearch,
}: {
  label: string;
  value: string;
  onSearch: (text: string) => void;
}): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (field.current !== null && document.activeElement !== field.current) field.current.value = value;
  }, [value]);
  const stop = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
  };
  // Another page may be open by then, whose URL it would change.
  useEffect(() => stop, []);
  const report = () => {
    stop();
    onSearch(field.current?.value.trim() ?? '');
  };
  return (
    <label class="search-field">
      <Icon name="search" />
      <span class="hidden-text">{label}</span>
      <input
        ref={field}
        type="search"
        placeholder={label}
        defaultValue={value}
        spellcheck={false}
        onInput={() => {
          stop();
          timer.current = setTimeout(report, pauseMs);
        }}
        onBlur={() => {
          if (timer.current !== undefined) report();
        }}
      />
    </label>
  );
}
