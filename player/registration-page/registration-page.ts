/* The script of the page after a registration in a learning platform: it asks the platform to close the page. */

const button = document.getElementById('lectern-close');
const platform = (window.opener as Window | null) ?? (window.parent === window ? null : window.parent);
if (button !== null && platform !== null) {
  button.hidden = false;
  button.addEventListener('click', () => {
    // The message holds no data, so it may go to any origin.
    platform.postMessage({ subject: 'org.imsglobal.lti.close' }, '*');
  });
}
