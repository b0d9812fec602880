import { readRequest, requestStorage } from './platform-storage.ts';

/*
 * The script of two pages of an LTI launch: one stores a secret in the platform's storage, the other reads it. It
 * identifies browsers that block cookies in frames.
 */

document.querySelector('.old-browser')?.remove();
const request = readRequest(document);
if (request !== undefined) {
  void requestStorage(window, request).then((answer) => {
    if (request.next === undefined) sendForm(answer?.value ?? '');
    else if (answer !== undefined) location.replace(request.next);
    else showNewTabPage();
  });
}

/** Shows the page that continues the login in a new tab, because the platform has no storage. */
function showNewTabPage(): void {
  const { content } = document.getElementById('lectern-refusal') as HTMLTemplateElement;
  document.title = content.querySelector('h1')?.textContent ?? document.title;
  document.getElementById('lectern-status')?.replaceChildren(content);
}

function sendForm(value: string): void {
  const form = document.getElementById('lectern-launch') as HTMLFormElement;
  (form.elements.namedItem('storage_value') as HTMLInputElement).value = value;
  form.submit();
}
