import { element, uniqueId } from '../dom.ts';

interface Question {
  title: string;
  note: string;
  confirm: string;
  cancel: string;
  /** Shown between the note and the buttons. */
  details?: HTMLElement;
}

interface ConfirmDialog {
  /** The caller puts it on the page. */
  dialog: HTMLDialogElement;
  /** Opens it with the focus on the button that changes nothing. */
  open(this: void): void;
}

/** Makes a confirmation dialog for an action that loses data. The button that changes nothing stands out. */
export function confirmDialog(
  { title, note, confirm, cancel, details }: Question,
  onConfirm: () => void,
): ConfirmDialog {
  const titleId = uniqueId();
  const noteId = uniqueId();
  const stay = element('button', { class: 'lectern-button', type: 'button' }, cancel);
  const go = element('button', { class: 'lectern-button lectern-is-quiet', type: 'button' }, confirm);
  const dialog = element(
    'dialog',
    { class: 'lectern-confirm', 'aria-labelledby': titleId, 'aria-describedby': noteId },
    element('p', { class: 'lectern-confirm-title', id: titleId }, title),
    element('p', { id: noteId }, note),
    ...(details ? [details] : []),
    element('div', { class: 'lectern-actions' }, stay, go),
  );
  stay.addEventListener('click', () => dialog.close());
  go.addEventListener('click', () => {
    dialog.close();
    onConfirm();
  });
  return {
    dialog,
    open() {
      dialog.showModal();
      // Browsers block the attribute `autofocus` in frames of other origins, and report an error.
      stay.focus();
    },
  };
}
