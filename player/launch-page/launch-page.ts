import { askStorage, readRequest } from './platform-storage.ts';

/*
 * The script of two pages of an LTI launch: one has the platform keep something for this browser, the other asks for
 * it. Browsers that keep no cookies for pages in frames are known again by it.
 */

const request = readRequest(document);
if (request !== undefined) {
  void askStorage(window, request).then((answer) => {
    if (request.next === undefined) sendForm(answer?.value ?? '');
    else if (answer !== undefined) location.replace(request.next);
    else showRefusal();
  });
}

/** Without the storage the platform is not asked for the launch: a tab of its own does that. */
function showRefusal(): void {
  const { content } = document.getElementById('lectern-refusal') as HTMLTemplateElement;
  document.title = content.querySelector('h1')?.textContent ?? document.title;
  document.getElementById('lectern-status')?.replaceChildren(content);
}

function sendForm(value: string): void {
  const form = document.getElementById('lectern-launch') as HTMLFormElement;
  (form.elements.namedItem('storage_value') as HTMLInputElement).value = value;
  form.submit();
}
