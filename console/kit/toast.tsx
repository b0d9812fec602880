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

/** Runs the action of a notice, once: its button is gone afterwards. */
async function runAction({ id, action }: Toast): Promise<void> {
  close(id);
  pastToasts.value = pastToasts.value.map((one) => (one.id === id ? { ...one, action: undefined } : one));
  await orToast(() => Promise.resolve(action?.run()));
}

/** The button of a notice, if it has one. */
function ActionButton({ of: toast }: { of: Toast }): JSX.Element | null {
  if (toast.action === undefined) return null;
  return (
    <button type="button" class="button is-quiet is-small" onClick={() => void runAction(toast)}>
      {toast.action.label}
    </button>
  );
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** The place of the notices. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status">
      {toasts.value.map((shown) => (
        <div key={shown.id} class={`toast is-${shown.kind}`}>
          <Icon name={shown.kind === 'done' ? 'check' : 'warning'} />
          <p>{shown.text}</p>
          <ActionButton of={shown} />
          <IconButton label={t('close')} icon="close" onPress={() => close(shown.id)} />
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
      {pastToasts.value.map((past) => (
        <li key={past.id} class={`is-${past.kind}`}>
          <Icon name={past.kind === 'done' ? 'check' : 'warning'} />
          <p>{past.text}</p>
          <ActionButton of={past} />
          <Time at={past.at} />
        </li>
      ))}
    </ol>
  );
}
