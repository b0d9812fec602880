import { expect, test } from 'vitest';
import { ElementCount, isFileUrl, replaceMediaUrls } from '../../shared/lessons/html-media.ts';

const replace = (html: string, elements = new ElementCount()) =>
  replaceMediaUrls(
    html,
    (url, kind) => (kind !== 'link' && /^(?:https?:)?\/\//i.test(url) ? `media:${kind}` : null),
    elements,
  );

test.each([
  [
    'a picture',
    '<p>é\r\n<img alt="x"  SRC = http://a/b.png  >',
    '<p>é\r\n<img alt="x"  SRC = "media:image"  >',
  ],
  [
    'each candidate of a srcset',
    '<img srcset="https://x/a.png 1x, b.png 2x,https://x/c,d.png 3x, data:image/png;base64,AA== 4x">',
    '<img srcset="media:image 1x, b.png 2x,media:image 3x, data:image/png;base64,AA== 4x">',
  ],
  [
    'other parts of a srcset, escaped as before',
    '<img srcset="https://x/a?b=1&amp;c=2 1x, d?e=&quot;&amp;f 2x">',
    '<img srcset="media:image 1x, d?e=&quot;&amp;f 2x">',
  ],
  [
    'video, poster, sources and tracks',
    '<video src=https://v/ poster="https://p/"><source src="https://s/"><track src="https://c/"></video>',
    '<video src="media:video" poster="media:image"><source src="media:video"><track src="media:captions"></video>',
  ],
  ['SVG', '<svg><image xlink:href="https://x/"/></svg>', '<svg><image xlink:href="media:image"/></svg>'],
  [
    'what a parser moves',
    '<table><tr><img src="https://x/"><td>😀<img src="https://y/">',
    '<table><tr><img src="media:image"><td>😀<img src="media:image">',
  ],
  [
    'the first of duplicate attributes',
    '<img src="https://x/" src="https://y/">',
    '<img src="media:image" src="https://y/">',
  ],
])('%s is replaced, and nothing else', (_what, html, replaced) => {
  expect(replace(html)).toBe(replaced);
});

test.each([
  '<a href="https://example.org/a.png">a link</a>',
  '<!-- <img src="https://x/"> -->',
  '<code>&lt;img src="https://x/"&gt;</code>',
  '<img src="media:1" srcset="a.png 2x">',
  '<p>src="https://x/"</p>',
  '<img alt="src=https://x/" src="b.png">',
  '<img src="https://x/',
  'no HTML: src=https://x/',
])('%s stays', (html) => {
  expect(replace(html)).toBe(html);
});

test.each([
  ['nested too deep', '<div>'.repeat(10_000), 'nested deeper than 512 levels'],
  [
    'that a parser multiplies',
    `<p>${Array.from({ length: 400 }, (_, index) => `<b id=${index}>`).join('')}${'<p>x'.repeat(1_000)}`,
    'more than 250000 elements',
  ],
])('HTML %s is rejected, not parsed for minutes', (_what, html, fault) => {
  expect(() => replace(`${html}<img src="https://x/">`)).toThrow(fault);
});

test('the elements of all texts of a lesson are counted together', () => {
  const elements = new ElementCount();
  const text = `<img src="x">${'<p>'.repeat(99_999)}`;
  replace(text, elements);
  replace(text, elements);
  expect(() => replace(text, elements)).toThrow('The HTML of the lesson has more than 250000 elements');
});

test.each([
  ['url(file:a.png)', true],
  ['url( " file:a.png")', true],
  ["URL('\\\\host/a.png')", true],
  ['url( file.png )', false],
  [`url(${' '.repeat(300_000)}a.png)`, false],
  [`url( "${' '.repeat(300_000)}a.png")`, false],
])('CSS with a URL is scanned once for files of a computer: %#', (css, isFile) => {
  expect(isFileUrl(css)).toBe(isFile);
});
