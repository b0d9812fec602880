import { askStorage, readRequest } from './platform-storage.ts';

/*
 * The script of two pages of an LTI launch: one has the platform keep something for this browser, the other asks for
 * it. Browsers that keep no cookies for pages in frames are known again by it.
 */

const request = readRequest(document);
if (request !== undefined) {
  void askStorage(window, request).then((value) => {
    if (request.next !== undefined) location.replace(request.next);
    else sendForm(value ?? '');
  });
}

function sendForm(value: string): void {
  const form = document.getElementById('lectern-launch') as HTMLFormElement;
  (form.elements.namedItem('storage_value') as HTMLInputElement).value = value;
  form.submit();
}
