import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { sanitizedSvg } from '../../shared/media/svg.ts';
import { useArchiveLab } from '../player/archive-page/archive-lab.ts';
import type { Unpacked } from '../player/archive-page/archive-lab.ts';
import { ask } from '../support/answers.ts';
import type { ExportManifest } from '../../shared/packages/manifest.ts';
import { buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { changeJson, importInto } from '../packages/import-support.ts';
import { useOrigin } from '../support/use.ts';
import { filesOf, listFiles } from './exports.ts';
import { png } from './pictures.ts';

const origin = useOrigin();
const lab = useArchiveLab(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host }));

const page = '<!doctype html><script>window.pwned = 1</script>';
const picture = png(1);
/** A picture for browsers, and a page for a server that trusts the name. */
const polyglot = Buffer.concat([picture, Buffer.from(page)]);

/** Names that servers, browsers or Windows run, with the type that the manifest declares, and the name in archives. */
const named: [name: string, mimeType: string, bytes: Buffer | string, extension: string][] = [
  ...['html', 'php', 'svgz', 'html.png', 'png.html', 'html%20', 'png::$DATA', ''].map(
    (extension): (typeof named)[number] => [extension, 'image/png', polyglot, 'png'],
  ),
  ['xsl', 'application/xslt+xml', '<a/>', 'bin'],
  ['html', 'application/octet-stream', page, 'bin'],
  ['svg', 'application/octet-stream', '<svg xmlns="http://www.w3.org/2000/svg" onload="pwned=1"/>', 'bin'],
  ['php', 'application/x-httpd-php', '<?php echo 1;', 'bin'],
  ['hta', 'application/hta', 'MsgBox', 'bin'],
  ['exe', 'application/x-msdownload', 'MZ\u0090', 'bin'],
  ['shtml', 'text/x-server-parsed-html', '<!--#exec cmd="ls" -->', 'bin'],
  ['js', 'text/javascript', 'window.pwned = 1', 'bin'],
  ['css', 'text/css', 'body { display: none }', 'bin'],
  ['mht', 'message/rfc822', 'MIME-Version: 1.0', 'bin'],
  ['swf', 'application/x-shockwave-flash', 'FWS', 'bin'],
  ['htc', 'text/x-component', '<component>', 'bin'],
  ['lnk', 'application/x-ms-shortcut', 'L', 'bin'],
  ['m3u8', 'application/vnd.apple.mpegurl', '#EXTM3U\nhttps://127.0.0.1/1.ts\n', 'bin'],
  ['m3u8', 'audio/mpegurl', '#EXTM3U\nfile://127.0.0.1/share/1.mp3\n', 'bin'],
  ['html', 'text/plain', 'Ebb', 'txt'],
  ['php', 'application/pdf', '%PDF-1.7', 'pdf'],
  ['jpeg', 'image/jpeg', Buffer.from('ffd8ffe000104a4649460001010000010001ffd9', 'hex'), 'jpeg'],
];

/** Drawings that run a script or contact a host when a browser opens them as a page. */
const leak = (path: string) => origin.url(`/${path}`);
const script = `document.documentElement.setAttribute('data-pwned', 1)`;
const svg = (content: string, attributes = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}<rect id="shown" width="40" height="40"/></svg>`;
const hostileDrawings = (): Record<string, string | Buffer> => ({
  script: svg(`<script>${script}</script>`),
  'script in CDATA': svg(`<script type="text/javascript"><![CDATA[${script}]]></script>`),
  'script by URL': svg(`<script href="${leak('a.js')}"/><script xlink:href="${leak('b.js')}"/>`),
  'prefixed script': svg(`<s:script xmlns:s="http://www.w3.org/2000/svg">${script}</s:script>`),
  'script of XHTML': svg(`<h:script xmlns:h="http://www.w3.org/1999/xhtml">${script}</h:script>`),
  'a page': svg(
    `<foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="${script}"><img src="${leak('i.png')}"/><iframe src="${leak('frame')}"/></body></foreignObject>`,
  ),
  'event handlers': svg(`<animate onbegin="${script}" attributeName="x" dur="1s"/>`, `onload="${script}"`),
  'an upper-case handler': svg('', `OnLoad="${script}" onLOAD="${script}"`),
  links: svg(
    `<a href="javascript:${script}"><rect width="9" height="9"/></a><a xlink:href="${leak('link')}"><rect width="9" height="9"/></a>`,
  ),
  'an animated link': svg(
    `<a><set attributeName="href" to="javascript:${script}"/><animate attributeName="xlink:href" values="javascript:${script}"/><rect width="9" height="9"/></a>`,
  ),
  use: svg(
    `<use href="data:image/svg+xml,&lt;svg id='x' xmlns='http://www.w3.org/2000/svg' onload='${script}'/&gt;#x"/><use href="${leak('use.svg')}#x"/>`,
  ),
  pictures: svg(
    `<image href="${leak('p.png')}" width="9" height="9"/><filter id="f"><feImage xlink:href="${leak('f.png')}"/></filter><rect filter="url(#f)" width="9" height="9"/>`,
  ),
  'pictures of a share': svg(
    `<image href="//127.0.0.1/share/x.png" width="9" height="9"/><image href="file://127.0.0.1/share/x.png" width="9" height="9"/><image href="\\\\127.0.0.1\\share\\x.png" width="9" height="9"/>`,
  ),
  paint: svg(
    `<rect width="9" height="9" fill="url(${leak('paint.svg')}#a)" mask="url('${leak('mask.svg')}#a')"/><rect style="cursor: url(${leak('c.cur')}), auto; fill: u\\72l(${leak('e.svg')}#a)" width="9" height="9"/>`,
  ),
  styles: svg(
    `<style>@import "${leak('1.css')}"; @import url(${leak('2.css')}); rect { fill: red; background: url( ${leak('3.png')} ); mask-image: image-set("${leak('4.png')}" 1x) } @font-face { font-family: f; src: url(${leak('5.woff')}) } text { font-family: f }</style><text y="9">f</text>`,
  ),
  'escaped styles': svg(
    `<style>@\\69\\6d\\70\\6f\\72\\74 "${leak('6.css')}"; rect { mask: u\\rl(${leak('7.svg')}) }</style>`,
  ),
  'a stylesheet of the file': `<?xml version="1.0"?><?xml-stylesheet href="${leak('8.css')}"?><?xml-stylesheet type="text/xsl" href="${leak('9.xsl')}"?>${svg('')}`,
  'a document type': `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "${leak('10.dtd')}" [<!ENTITY s "javascript:1"><!ENTITY % p SYSTEM "${leak('11.dtd')}">]>${svg('<title>&s;</title>')}`,
  'a base': svg('<image href="#x"/>', `xml:base="${leak('base')}/"`),
  'another encoding': Buffer.from(
    `<?xml version="1.0" encoding="ISO-8859-1"?>${svg(`<script>${script}</script><title>é</title>`)}`,
    'latin1',
  ),
  'no namespace': `<svg onload="${script}"><script>${script}</script><rect id="shown" width="40" height="40"/></svg>`,
  media: svg(
    `<video xmlns="http://www.w3.org/1999/xhtml" src="${leak('v.mp4')}"/><audio href="${leak('a.mp3')}"/><handler type="application/ecmascript">${script}</handler>`,
  ),
});

const drawing = { mimeType: 'image/svg+xml', extension: 'svg' };

describe('files of a package', () => {
  let archive: Unpacked;
  let drawings: Record<string, string | Buffer>;
  let version: Awaited<ReturnType<typeof buildVersion>>;
  let ids: string[];

  beforeAll(async () => {
    drawings = hostileDrawings();
    const external = Object.values(drawings).map((bytes, index) => {
      origin.serve(`/${index}.svg`, Buffer.from(bytes), { contentType: 'image/svg+xml' });
      return { sourceUrl: origin.url(`/${index}.svg`), ...drawing };
    });
    const built = await buildPackage({
      media: [
        ...named.map(([extension, mimeType, bytes]) => ({ extension, mimeType, bytes: Buffer.from(bytes) })),
        ...Object.values(drawings).map((bytes) => ({ bytes: Buffer.from(bytes), ...drawing })),
        ...external,
      ],
    });
    ids = built.mediaIds;
    version = await buildVersion(lab.api, lab.api.organization, built.path);
    archive = await lab.unpack(version);
  });

  test('are named after their type in archives, packages, manifests and URLs, and other formats are downloads', async () => {
    const expected = new Map(named.map(([, , , extension], index) => [ids[index], extension]));
    const check = (found: { id: string; localPath: string; mimeType: string }[]) => {
      const extensions = new Map(found.map(({ id, localPath }) => [id, localPath.split('.').at(-1)]));
      for (const [id, extension] of expected) expect([id, extensions.get(id ?? '')]).toEqual([id, extension]);
      const active = found.filter(
        ({ localPath, mimeType }) => localPath.endsWith('.bin') !== (mimeType === 'application/octet-stream'),
      );
      expect(active).toEqual([]);
    };
    check(archive.manifest.files.media);
    const { url, headers } = lab.api;
    const scorm = await ask(`${url}${exportPath(version)}?format=scorm12`, { headers });
    const manifest = (await filesOf(scorm.body)).get('manifest.json');
    check((JSON.parse(String(manifest)) as ExportManifest).files.media);
    const signed = await listFiles({ api: url, headers }, version);
    check(signed.files.media);
    for (const { url: signedUrl, localPath } of signed.files.media) {
      const answer = await ask(signedUrl, { method: 'HEAD' });
      const isDownload = answer.headers.get('content-type') === 'application/octet-stream';
      expect([localPath, isDownload]).toEqual([localPath, /\.(?:bin|pdf)$/.test(localPath)]);
      expect(new URL(signedUrl).pathname.split('.').at(-1)).toBe(localPath.split('.').at(-1));
    }
  });

  test('drawings run nothing and contact no host when a browser opens them, uploaded or downloaded', async () => {
    const { length } = Object.keys(drawings);
    const [uploaded, downloaded] = [named.length, named.length + length].map((start) =>
      ids.slice(start, start + length).map((id) => `media/${id}.svg`),
    );
    const bytesOf = (path: string) => archive.files.get(path)?.toString();
    expect(uploaded?.map(bytesOf)).not.toContain(undefined);
    expect(downloaded?.map(bytesOf)).toEqual(uploaded?.map(bytesOf));
    const opened = await lab.open(archive.urls['a plain web server']);
    const { page } = opened;
    // Ends what the lesson still loads.
    await page.goto('about:blank');
    const before = origin.log.length;
    const problems: string[] = [];
    page.on('request', (request) => {
      if (!request.url().endsWith('.svg')) problems.push(request.url());
    });
    for (const [index, name] of uploaded?.entries() ?? []) {
      const url =
        index % 2 === 0
          ? new URL(name, archive.urls['a plain web server']).href
          : pathToFileURL(join(archive.path, name)).href;
      await page.goto(url);
      const result = await page.evaluate<[string | null, boolean]>(`(async () => {
        for (const node of document.querySelectorAll('*')) node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        await new Promise(requestAnimationFrame);
        const { width } = document.querySelector('#shown').getBoundingClientRect();
        return [document.documentElement.getAttribute('data-pwned'), width === 40];
      })()`);
      expect([name, ...result]).toEqual([name, null, true]);
      expect(page.url()).toBe(url);
    }
    expect([problems, origin.log.slice(before)]).toEqual([[], []]);
  });
});

test('a drawing that needs no change keeps its bytes, and a changed one stays as it is', () => {
  const plain = `<?xml version="1.0" encoding="UTF-8"?>\n<!-- A tide. -->\n${svg('<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs><style>.a { fill: url(#g); font: 1em serif } rect:not(.b) { transform: rotate(4deg) }</style><path class="a" d="M0 0&#10;L1 1" data-name="1 &lt; 2"/><use xlink:href="#shown"/><image href="data:image/png;base64,AAAA"/><animate attributeName="fill" values="red;blue" dur="1s"/><text xml:space="preserve"> ebb </text>')}`;
  expect(String(sanitizedSvg(Buffer.from(plain)))).toBe(plain);
  for (const bytes of Object.values(hostileDrawings())) {
    const once = sanitizedSvg(Buffer.from(bytes));
    expect(String(sanitizedSvg(once))).toBe(String(once));
  }
});

test('entities that drawing programs declare are replaced, and those that grow are rejected', () => {
  const illustrator = `<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;"><rect/></svg>`;
  expect(String(sanitizedSvg(Buffer.from(illustrator)))).toBe(
    '<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>\n',
  );
  const bomb = `<!DOCTYPE svg [<!ENTITY a "${'a'.repeat(200)}">]><svg xmlns="http://www.w3.org/2000/svg"><title>${'&a;'.repeat(100_000)}</title></svg>`;
  expect(() => sanitizedSvg(Buffer.from(bomb))).toThrow('too many or too long entities');
});

test.each([
  ['a page', page],
  ['a compressed drawing', gzipSync(svg(''))],
  ['XML with a fault', svg('<g>')],
  ['another document', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
])('%s that is declared as a drawing is refused', async (_title, bytes) => {
  const { path } = await buildPackage({ media: [{ bytes: Buffer.from(bytes), ...drawing }] });
  await expect(importInto(lab.api, lab.api.organization, path)).rejects.toThrow('bad_type');
});

test('a drawing is compared with the digest of the file in the package', async () => {
  const { path } = await buildPackage({ media: [{ bytes: Buffer.from(svg('')), ...drawing }] });
  await changeJson(path, 'manifest.json', ({ files }) => {
    for (const medium of files.media) medium.sha256 = '0'.repeat(64);
  });
  await expect(importInto(lab.api, lab.api.organization, path)).rejects.toThrow('its SHA-256 is');
});
