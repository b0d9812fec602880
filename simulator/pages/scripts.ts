/**
 * Stores data for tools by origin (`lti.put_data`, `lti.get_data`), and reports the capabilities
 * (`lti.capabilities`). Runs in the launch page and in the frame that `lti_storage_target` names.
 */
export const storageScript = String.raw`
const kept = new Map();
const maxKeys = 500;
const maxLength = 4096;
const frame = document.documentElement.dataset.storageFrame;

export function answerStorage({ data, origin, source }) {
  const { subject, message_id, key, value } = Object(data);
  const answer = (fields) => source.postMessage({ subject: subject + '.response', message_id, ...fields }, origin);
  const reject = (code, message) => answer({ key, error: { code, message } });
  if (subject === 'lti.capabilities') {
    const names = frame === undefined ? [] : ['lti.put_data', 'lti.get_data'];
    const storage = names.map((name) => ({ subject: name, frame }));
    answer({ supported_messages: [{ subject }, { subject: 'lti.frameResize' }, ...storage] });
    return;
  }
  if (frame === undefined || (subject !== 'lti.put_data' && subject !== 'lti.get_data')) return;
  if (typeof message_id !== 'string') return reject('bad_request', 'message_id is missing');
  if (typeof key !== 'string') return reject('bad_request', 'key is missing');
  const own = kept.get(origin) ?? new Map();
  kept.set(origin, own);
  if (subject === 'lti.get_data') return answer({ key, value: own.get(key) ?? null });
  if (value === undefined || value === null) {
    own.delete(key);
    return answer({ key });
  }
  if (typeof value !== 'string') return reject('bad_request', 'value must be a string');
  if (value.length > maxLength || (own.size >= maxKeys && !own.has(key))) {
    return reject('storage_exhaustion', 'At most ' + maxKeys + ' values of ' + maxLength + ' characters');
  }
  own.set(key, value);
  answer({ key, value });
}

addEventListener('message', answerStorage);
`;

/** Opens the tool in its frame when the storage is ready, and lets the tool set the frame's height. */
export const launchScript = String.raw`
import './storage.js';

const tool = document.querySelector('iframe.tool');
const storage = document.querySelector('iframe[data-storage]');
const form = document.querySelector('form[target]');

addEventListener('message', ({ data, origin, source }) => {
  if (source !== tool.contentWindow || Object(data).subject !== 'lti.frameResize') return;
  const height = Number(data.height);
  if (!(height > 0)) return;
  tool.style.height = Math.min(height, 20000) + 'px';
  source.postMessage({ subject: 'lti.frameResize.response', message_id: data.message_id }, origin);
});

const open = () => form.submit();
// A document that has just begun to load has no element yet.
if (storage === null || storage.contentDocument?.documentElement?.dataset.ready === '') open();
else storage.addEventListener('load', open, { once: true });
`;

/** Shows grades as they arrive. */
export const gradesScript = String.raw`
const main = document.querySelector('main');

async function refresh() {
  const answer = await fetch('/grades').catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = page.querySelector('main');
    if (fresh.innerHTML !== main.innerHTML) main.replaceChildren(...fresh.childNodes);
  }
  setTimeout(refresh, 1000);
}

setTimeout(refresh, 1000);
`;

/** Leaves the registration page when the tool asks for it. */
export const registrationScript = String.raw`
addEventListener('message', ({ data }) => {
  if (Object(data).subject === 'org.imsglobal.lti.close') location.replace('/tools');
});
`;

/** Runs in the storage frame. */
export const readyScript = String.raw`
import './storage.js';
document.documentElement.dataset.ready = '';
`;
