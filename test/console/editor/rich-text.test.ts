import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { parseFragment } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';
import { expect, test } from 'vitest';
import type { HtmlNode } from '../../../console/editor/forms/rich-text/html-tree.ts';
import { meaningOf } from '../../../console/editor/forms/rich-text/meaning.ts';
import { openHtml } from '../../../console/editor/forms/rich-text/open-html.ts';
import { schema } from '../../../console/editor/forms/rich-text/schema.ts';
import { writeDocument } from '../../../console/editor/forms/rich-text/write-html.ts';
import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import { isCoreWidget } from '../../../shared/lessons/core-widgets.ts';
import { recordOf } from '../../../shared/lessons/json-values.ts';
import { memberFields } from '../../../shared/lessons/widget-fields.ts';
import type { Fields } from '../../../shared/lessons/widget-fields.ts';

type ParsedNode = DefaultTreeAdapterTypes.ChildNode;

/** Parses as browsers do; the editor itself uses the browser. */
function parse(html: string): HtmlNode[] {
  const tree = (nodes: ParsedNode[]): HtmlNode[] =>
    nodes.flatMap((node): HtmlNode[] => {
      if ('value' in node) return [node.value];
      if ('data' in node) return [{ comment: node.data }];
      if (!('tagName' in node)) return [];
      const attributes = Object.fromEntries(
        node.attrs.map(({ prefix, name, value }) => [prefix ? `${prefix}:${name}` : name, value]),
      );
      const inner = 'content' in node ? node.content : node;
      return [{ tag: node.tagName, attributes, children: tree(inner.childNodes) }];
    });
  return tree(parseFragment(html).childNodes);
}

/** Returns the HTML of all fields in a value that has blocks at any depth. */
function htmlIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(htmlIn);
  const { type, props } = recordOf(value);
  const own = typeof type === 'string' && isCoreWidget(type) ? fieldsHtml(coreWidgetFields[type], props) : [];
  return [...own, ...Object.values(recordOf(value)).flatMap(htmlIn)];
}

function fieldsHtml(fields: Fields, props: unknown): string[] {
  return Object.entries(fields).flatMap(([name, field]): string[] => {
    const value = recordOf(props)[name];
    const members = memberFields(field);
    if (field.kind === 'html') return typeof value === 'string' ? [value] : [];
    if (members === undefined) return [];
    return (Array.isArray(value) ? value : [value]).flatMap((entry) => fieldsHtml(members, entry));
  });
}

test('every HTML field of the demo lesson and of the documentation opens as text', async () => {
  const page = await readFile('docs/widgets.md', 'utf8');
  const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(
    ([, json = '']) => JSON.parse(json) as object,
  );
  const texts = htmlIn([JSON.parse(await readFile('demo/lesson/lesson.json', 'utf8')), ...examples]);
  expect(texts.length).toBeGreaterThan(100);
  expect(texts.filter((html) => openHtml(html, parse) === null)).toEqual([]);
});

const attributes = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom(
    ' class="a b"',
    ' id="x"',
    ' style="text-align: center"',
    ' lang="fr"',
    ' dir="rtl"',
    ' title="&quot;&amp;&lt;"',
    ' data-x="1"',
  ),
);
const words = fc.oneof(
  fc.constantFrom(
    'word',
    ' ',
    'a &amp; b',
    '&nbsp;',
    '\n  ',
    '1 &lt; 2',
    '\\(x^2\\)',
    '\\[y',
    '[[gap]]',
    '$5',
    'é',
  ),
  fc.string({ maxLength: 6 }).map((text) => text.replaceAll(/[<&]/g, '')),
);
const inlineTags =
  'a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var'.split(
    ' ',
  );
const blockTags =
  'address article aside blockquote center dd details div dl dt figcaption figure footer h1 h2 h3 h6 header li main nav ol p pre section summary table tbody td th thead tr ul caption colgroup'.split(
    ' ',
  );
const others = fc.constantFrom(
  '<br>',
  '<hr>',
  '<wbr>',
  '<img src="media:a.png" alt="">',
  '<img src="media:a.png" alt="A map" width="3" height="4">',
  '<math data-tex="x" display="block"><mi>x</mi></math>',
  '<math><semantics><mi>y</mi><annotation encoding="application/x-tex">y</annotation></semantics></math>',
  '<svg viewBox="0 0 1 1"><linearGradient id="g"/><path d="M0 0"/><use xlink:href="#g"/></svg>',
  '<video controls src="media:v.mp4"><track src="media:c.vtt"></video>',
  '<iframe src="https://example.org/"></iframe>',
  '<!-- note -->',
  '<ruby>漢<rp>(</rp><rt>kan</rt></ruby>',
  '<script>1 < 2</script>',
  '<template><p>x</p></template>',
  '<pre>\n\n  a\n b</pre>',
  '<pre><code class="language-js">a &lt; b\n</code></pre>',
  '<table><caption>C</caption><thead><tr><th scope="col">a<th>b</thead><tr><td colspan="2"><ul><li>x</ul></table>',
);
const { html: anyHtml } = fc.letrec<{ html: string; part: string }>((tie) => ({
  html: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    words,
    others,
    fc
      .tuple(fc.constantFrom(...inlineTags, ...blockTags), attributes, tie('html'))
      .map(([tag, given, inner]) => `<${tag}${given}>${inner}</${tag}>`),
  ),
}));

test('any HTML that opens as text means the same when it is written, and is then stable', () => {
  let opened = 0;
  let count = 0;
  fc.assert(
    fc.property(anyHtml, (html) => {
      count += 1;
      const doc = openHtml(html, parse);
      if (doc === null) return;
      opened += 1;
      const written = writeDocument(doc);
      expect(writeDocument(openHtml(written, parse) ?? schema.node('doc'))).toBe(written);
    }),
    { numRuns: 3_000 },
  );
  if (process.env.FIGURES) process.stdout.write(`${opened} of ${count}\n`);
  expect(opened / count).toBeGreaterThan(0.9);
});

test.each([
  ['<b>a</b><b>b</b>', '<b>ab</b>'],
  ['<em>a <strong>b</strong> c</em>', '<em>a <strong>b</strong> c</em>'],
  ['<p>a</p>\n\n<p>b</p>\n', '<p>a</p><p>b</p>'],
  ['one\n\ntwo\nthree', '<p>one</p><p>two<br>three</p>'],
  ['Text<ul><li>a<li>b</ul>', 'Text<ul><li>a</li><li>b</li></ul>'],
])('%j is written as %j', (html, written) => {
  const doc = openHtml(html, parse);
  expect(doc && writeDocument(doc)).toBe(written);
});

test.each([
  ['<p>a</p>', '<p>b</p>'],
  ['<b>a</b>', '<strong>a</strong>'],
  ['<p>a b</p>', '<p>ab</p>'],
  ['<a id="x"></a>a', 'a'],
  ['<p>a</p>', 'a'],
  ['<!-- x -->', ''],
  ['<pre>a\n</pre>', '<pre>a</pre>'],
  ['<p style="color: red">a</p>', '<p>a</p>'],
])('%j and %j differ', (one, other) => {
  expect(meaningOf(parse(one))).not.toBe(meaningOf(parse(other)));
});
