/*
 * The script of the page at the end of a registration in a learning platform: the platform's page is told that it is
 * over, and takes the page away.
 */

const button = document.getElementById('lectern-close');
const platform = (window.opener as Window | null) ?? (window.parent === window ? null : window.parent);
if (button !== null && platform !== null) {
  button.hidden = false;
  button.addEventListener('click', () => {
    // Anybody may know it: there is nothing in it.
    platform.postMessage({ subject: 'org.imsglobal.lti.close' }, '*');
  });
}
