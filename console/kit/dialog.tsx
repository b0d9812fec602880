import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../shell/text.ts';
import { Button, IconButton } from './button.tsx';
import { CodeBlock } from './parts.tsx';
import { messageOf } from './toast.tsx';

/**
 * A modal dialog. It is open while it is rendered; Escape and the close button call `onClose`.
 *
 * @param props.onSubmit makes its content a form
 */
export function Dialog({
  title,
  onClose,
  onSubmit,
  footer,
  isWide = false,
  children,
}: {
  title: string;
  onClose: () => void;
  onSubmit?: () => unknown;
  footer?: ComponentChildren;
  isWide?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  const content = (
    <>
      <div class="dialog-body">{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </>
  );
  return (
    <dialog
      ref={ref}
      class={`dialog${isWide ? ' is-wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        // The parent decides, so that the dialog and its state agree. Events of dialogs inside bubble.
        if (event.target !== ref.current) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <IconButton label={t('close')} icon="close" onPress={onClose} />
      </header>
      {onSubmit === undefined ? (
        content
      ) : (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
}

/**
 * A dialog with an action, and a button that does nothing. While the action runs, the dialog waits; an error that it
 * throws appears in the dialog, where nothing is lost.
 *
 * @param props.onAction closes the dialog when it succeeds
 */
export function ActionDialog({
  title,
  action,
  isDanger = false,
  isDisabled = false,
  onAction,
  onClose,
  children,
}: {
  title: string;
  action: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  onAction: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    if (isBusy || isDisabled) return;
    setBusy(true);
    setError(undefined);
    try {
      await onAction();
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onPress={onClose}>{t('cancel')}</Button>
          <Button
            type="submit"
            kind={isDanger ? 'danger' : 'primary'}
            isBusy={isBusy}
            isDisabled={isDisabled}
          >
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </Dialog>
  );
}

/** Shows something that no other response shows. */
export function SecretDialog({
  title,
  text,
  secret,
  onClose,
}: {
  title: string;
  text: string;
  secret: string;
  onClose: () => void;
}): JSX.Element {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <Button kind="primary" onPress={onClose}>
          {t('secret.kept')}
        </Button>
      }
    >
      <p>{text}</p>
      <CodeBlock label={title} code={secret} />
    </Dialog>
  );
}
