import { element, uniqueId } from '../dom.ts';

interface Question {
  title: string;
  note: string;
  confirm: string;
  cancel: string;
  /** Between the note and the buttons. */
  details?: HTMLElement;
}

/**
 * Makes a confirmation dialog for an action that loses something. Put it on the page, and open it with `showModal()`.
 */
export function confirmDialog(
  { title, note, confirm, cancel, details }: Question,
  onConfirm: () => void,
): HTMLDialogElement {
  const titleId = uniqueId();
  const noteId = uniqueId();
  // This button gets the focus when the dialog opens, so that Enter loses nothing.
  const stay = element(
    'button',
    { class: 'lectern-button lectern-is-quiet', type: 'button', autofocus: true },
    cancel,
  );
  const go = element('button', { class: 'lectern-button', type: 'button' }, confirm);
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
  return dialog;
}
