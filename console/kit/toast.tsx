import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { ApiError } from '../shell/api.ts';
import { t } from '../shell/text.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import { Time } from './time.tsx';

interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
  at: string;
  action: { label: string; run: () => unknown } | undefined;
}

const shownMs = 6_000;
const maxKept = 30;

/** The notices on the screen; those that are gone stay in {@link pastToasts}. */
const toasts = signal<readonly Toast[]>([]);

/** All notices since the page was loaded, newest first. */
export const pastToasts = signal<readonly Toast[]>([]);

/** Shows a notice for some seconds. An error stays until it is closed. @param action such as undo */
export function toast(text: string, kind: Toast['kind'] = 'done', action?: Toast['action']): void {
  const made = { id: Date.now() + Math.random(), text, kind, at: new Date().toISOString(), action };
  toasts.value = [...toasts.value.slice(-2), made];
  pastToasts.value = [made, ...pastToasts.value].slice(0, maxKept);
  if (kind === 'done') setTimeout(() => close(made.id), shownMs);
}

/** Runs something and shows a notice if it fails. @returns whether it succeeded */
export async function orToast(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    toast(messageOf(error), 'failed');
    return false;
  }
}

/** Returns the text of an error for people. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.status === 0 ? t('error.offline') : error.message;
  return error instanceof Error ? error.message : String(error);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** The place of the notices. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, kind, action }) => (
        <div key={id} class={`toast is-${kind}`}>
          <Icon name={kind === 'done' ? 'check' : 'warning'} />
          <p>{text}</p>
          {action && (
            <button
              type="button"
              class="button is-quiet is-small"
              onClick={() => {
                close(id);
                void action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <IconButton label={t('close')} icon="close" onPress={() => close(id)} />
        </div>
      ))}
    </div>
  );
}

/** The notices since the page was loaded, to read them again. */
export function ToastHistory(): JSX.Element {
  if (pastToasts.value.length === 0) return <p class="muted">{t('notices.none')}</p>;
  return (
    <ol class="toast-history">
      {pastToasts.value.map(({ id, text, kind, at }) => (
        <li key={id} class={`is-${kind}`}>
          <Icon name={kind === 'done' ? 'check' : 'warning'} />
          <p>{text}</p>
          <Time at={at} />
        </li>
      ))}
    </ol>
  );
}
