import { expect, test } from 'vitest';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import { withoutTags } from '../../shared/lessons/blocks.ts';
import { gapIds } from '../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { convertBlocks } from '../../shared/packages/convert-blocks.ts';
import { convertFormulasInHtml } from '../../shared/packages/formulas/formulas-in-html.ts';
import { texIn } from '../../shared/packages/formulas/tex-in-text.ts';
import { lessonWithContent } from '../lessons/build-lesson.ts';
import { longestBlock } from '../support/longest-block.ts';

test.each<[text: string, formulas: string[]]>([
  ['so $x^2$.', ['x^2']],
  ['\\(x\\), \\[y\\] and $$z$$', ['x', 'y', 'z']],
  ['the $n$th, 设$x$为, ($y$)', ['n', 'x', 'y']],
  ['$5x+3=2$ and $2^n$', ['5x+3=2', '2^n']],
  ['$[0, 1)$', ['[0, 1)']],
  ['$a$$b$', ['a', 'b']],
  ['If $a$ costs $5 and $b$ costs $6', ['a', 'b']],
  ['$5 million to $x$', ['x']],
  ['$\\$5 + x$', ['\\$5 + x']],
  ['$speed = distance / time$', ['speed = distance / time']],
  ['$$x = {-b \\pm \\sqrt{b^2-4ac} \\over 2a}.$$', ['x = {-b \\pm \\sqrt{b^2-4ac} \\over 2a}.']],
])('the formulas of %s are found', (text, formulas) => {
  expect(texIn(text).map(({ tex }) => tex)).toEqual(formulas);
});

test.each([
  '$5 and $6',
  'US$5, US$6',
  '5$ or 6$',
  '$20,000 and $30,000',
  'A$5 and B$6',
  '(US$) 5 and (A$) 6',
  'R$ 5,00 e R$ 6,00',
  '$5, $6 and $7',
  '$5-$6, $5/$6, $5k–$6k, $5 < $6',
  '$5 ($6 with tax)',
  '$15 per day (equivalent to about $20)',
  '$5 or €6, i.e. 6$ more',
  'between $5 and 6$.',
  'I have 5 $, you have 6 $.',
  'prices in $: 5$ each',
  '$HOME/$PATH, $HOME and $PATH',
  '$$$ restaurants and $$ ones',
  '\\\\(x\\\\)',
  '$',
  '$$',
])('the dollar signs of %s stay text', (text) => {
  expect(texIn(text)).toEqual([]);
});

test('TeX becomes formulas in every text that learners see, but not in code, attributes or ids', () => {
  const formula = '<math data-tex="x&lt;y">';
  const content: Block[] = [
    ['Text', { html: '<p>$x&lt;y$</p><table><tr><td>\\(x&lt;y\\)</td></tr></table>' }],
    ['Text', { html: '<code>$x&lt;y$</code><pre>\\(x\\)</pre><a title="$x$">a</a>' }],
    ['MultipleChoice', { prompt: '$x&lt;y$', choices: [{ id: '$x$', html: '$x&lt;y$', hint: '$x&lt;y$' }] }],
    ['Image', { caption: '$x&lt;y$', alt: '$x<y$' }],
    ['Heading', { text: '$x<y$ & more' }],
    ['Accordion', { panels: [{ title: '$x<y$', body: [] }] }],
    ['Callout', { body: [{ type: 'Text', props: { id: 'c', html: '$x&lt;y$' } }] }],
    ['TrueFalse', { trueLabel: '$x<y$', explanation: '$x&lt;y$' }],
    ['Matching', { pairs: [{ id: 'a', left: '$x&lt;y$', right: '$x&lt;y$' }] }],
    ['Custom', { html: '$x$' }],
  ].map(([type, props], index) => ({ type, props: { id: `b${index}`, ...(props as object) } }) as Block);
  const lesson = lessonWithContent({ content, root: {} });
  expect(convertBlocks(lesson)).toEqual([]);
  const shown = content.map(
    ({ props }) => JSON.stringify(props).split(JSON.stringify(formula).slice(1, -1)).length - 1,
  );
  expect(shown).toEqual([2, 0, 3, 1, 1, 1, 1, 2, 2, 0]);
  expect(content[4]?.props.text).toMatch(/^<math .*<\/math> & more$/);
  const once = JSON.stringify(lesson);
  expect(convertBlocks(lesson)).toEqual([]);
  expect(JSON.stringify(lesson)).toBe(once);
});

test('TeX in titles and on the cover stays, with a warning', () => {
  const lesson = lessonWithContent({ content: [], root: {} });
  lesson.lesson.cover = { text: 'From $5 to $6', objectives: ['Solve $x^2=2$'] };
  for (const section of lesson.sections) section.title = 'About \\(\\pi\\)';
  expect(convertBlocks(lesson)).toEqual([
    'lesson.json: lesson.cover.objectives[0]: "Solve $x^2=2$" has TeX, which titles and covers show as it is',
    'lesson.json: Section 1: "About \\\\(\\\\pi\\\\)" has TeX, which titles and covers show as it is',
  ]);
});

test('a lesson can leave dollar signs as they are', () => {
  const content: Block[] = [{ type: 'Text', props: { id: 'b', html: '<p>$x$ \\$5</p>' } }];
  const lesson = lessonWithContent({ content, root: {} });
  lesson.lesson.inlineTex = false;
  expect(convertBlocks(lesson)).toEqual([]);
  expect(content[0]?.props.html).toBe('<p>$x$ \\$5</p>');
});

test('where texts have no markup, their formulas are TeX', () => {
  const content: Block[] = [{ type: 'Text', props: { id: 'b', html: 'Solve $x^2 &lt; [[4]]$ <b>now</b>' } }];
  convertBlocks(lessonWithContent({ content, root: {} }));
  const html = String(content[0]?.props.html);
  expect(gapIds(html)).toEqual([]);
  expect(withoutTags(html)).toBe('Solve x^2 &lt; &#91;[4]]  now ');
});

test('an escaped dollar sign stays one at the next import, and invalid TeX stays with a warning', () => {
  const toMathml = (tex: string) => {
    if (tex === '\\frac{') throw new Error('Unexpected end');
    return `<math data-tex="${tex}"></math>`;
  };
  const { text, faults } = convertFormulasInHtml('\\$x\\$ &amp; $a$ $\\frac{$ \\(b<br>\\)', toMathml);
  expect(text).toBe('&#36;x&#36; &amp; <math data-tex="a"></math> $\\frac{$ \\(b<br>\\)');
  expect(faults).toEqual([
    '"$\\\\frac{$" Unexpected end',
    '"\\\\(b" begins a formula that does not end in the same text',
  ]);
  expect(convertFormulasInHtml(text, toMathml).text).toBe(text);
});

test.each([
  ['<p>$a<b$ and \\(c<d\\)</p>', ['a<b', 'c<d']],
  ['<p>$5 <img alt="$x"> $y$</p>', ['y']],
  ['<b>$x</b>, <i>y$</i>', []],
])('in %s, only less-than signs of TeX are no tags', (html, formulas) => {
  const found: string[] = [];
  convertFormulasInHtml(html, (tex) => {
    found.push(tex);
    return '';
  });
  expect(found).toEqual(formulas);
});

const math = (inner: string) => `<math>${inner}</math>`;
const mo = (attributes: string, sign: string) => `<mo${attributes && ` ${attributes}`}>${sign}</mo>`;
const open = (sign: string) => mo('fence="true" form="prefix" stretchy="true"', sign);
const close = (sign: string) => mo('fence="true" form="postfix" stretchy="true"', sign);
const strike = (name: string, style: string) =>
  `<menclose notation="${name}"><mi>x</mi><mrow class="tml-cancel ${style}"></mrow></menclose>`;
const row = (...cells: string[]) => `<mtr>${cells.join('')}</mtr>`;
const cell = (attributes: string, inner: string) => `<mtd${attributes && ` ${attributes}`}>${inner}</mtd>`;

/** MathML 3, and the MathML Core that browsers draw in the same way. */
const conversions: [written: string, core: string][] = [
  ['<mfenced open="|" close="|"><mi>y</mi></mfenced>', `<mrow>${open('|')}<mi>y</mi>${close('|')}</mrow>`],
  ['<mi mathvariant="bold">v</mi><mn mathvariant="bold">12</mn>', '<mi>𝐯</mi><mn>𝟏𝟐</mn>'],
  ['<mi mathvariant="bold-italic">αx</mi><mi mathvariant="double-struck">R</mi>', '<mi>𝜶𝒙</mi><mi>ℝ</mi>'],
  [
    '<mstyle mathvariant="bold"><mi>x</mi><mo>×</mo><mtext>for a</mtext></mstyle>',
    '<mstyle><mi>𝐱</mi><mo style="font-weight:bold;">×</mo><mtext style="font-weight:bold;">for a</mtext></mstyle>',
  ],
  ['<menclose notation="updiagonalstrike"><mi>x</mi></menclose>', strike('updiagonalstrike', 'upstrike')],
  ['<menclose notation="radical"><mi>x</mi></menclose>', '<msqrt><mi>x</mi></msqrt>'],
  [
    '<menclose><mn>12</mn></menclose>',
    '<menclose notation="longdiv" class="longdiv-top"><mn>12</mn><mrow class="longdiv-arc"></mrow></menclose>',
  ],
  [
    '<mtable columnalign="left right" columnlines="solid" rowlines="dashed" frame="solid"><mtr><mtd>a</mtd><mtd>b</mtd></mtr><mtr columnalign="right"><mtd>c</mtd><mtd columnalign="center">d</mtd></mtr></mtable>',
    `<mtable style="border:0.06em solid;padding:0.5ex 0.4em;">${row(
      cell('class="tml-left" style="border-right:0.06em solid;border-bottom:0.06em dashed;"', 'a'),
      cell('class="tml-right" style="border-bottom:0.06em dashed;"', 'b'),
    )}${row(cell('class="tml-right" style="border-right:0.06em solid;"', 'c'), cell('', 'd'))}</mtable>`,
  ],
  [
    '<mmultiscripts><mi>C</mi><none/><none/><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>',
    '<mmultiscripts><mi>C</mi><mrow></mrow><mrow></mrow><mprescripts></mprescripts><mn>6</mn><mn>14</mn></mmultiscripts>',
  ],
  [
    '<mfrac bevelled="true"><mn>1</mn><mn>2</mn></mfrac>',
    `<mrow><mn>1</mn>${mo('stretchy="true"', '/')}<mn>2</mn></mrow>`,
  ],
  ['<ms lquote="«" rquote="»">a</ms>', '<mtext>«a»</mtext>'],
  ['<maction actiontype="toggle" selection="2"><mi>a</mi><mi>b</mi></maction>', '<mi>b</mi>'],
  ['<semantics><mi>x</mi><annotation encoding="application/x-tex">x</annotation></semantics>', '<mi>x</mi>'],
  [
    '<mspace width="thickmathspace"/><mo lspace="negativethinmathspace">+</mo>',
    '<mspace width="0.2778em"></mspace><mo lspace="-0.1667em">+</mo>',
  ],
];

test.each(conversions)('%s becomes MathML that browsers draw', (written, core) => {
  const { text, faults } = convertFormulasInHtml(`<p>a ${math(written)}</p>`, null);
  expect(text).toBe(`<p>a ${math(core)}</p>`);
  expect(faults).toEqual([]);
  expect(convertFormulasInHtml(text, null).text).toBe(text);
});

/** Returns the digits of each row of a table, with `_` below those with a line. */
const digits = (html: string) =>
  [...html.matchAll(/<mtr>(.*?)<\/mtr>/g)].map(([, cells = '']) =>
    [...cells.matchAll(/<mtd style="([^"]*)">(.*?)<\/mtd>/g)]
      .map(
        ([, style = '', inner = '']) =>
          (inner.replaceAll(/<[^>]*>/g, '') || ' ') + (style.includes('border') ? '_' : ''),
      )
      .join(''),
  );

test('written calculations become tables with a digit in each cell', () => {
  const calculations: [string, string[]][] = [
    [
      '<mstack><mn>123</mn><msrow><mo>+</mo><mn>45</mn></msrow><msline/><mn>168</mn></mstack>',
      ['123', '+_4_5_', '168'],
    ],
    ['<mstack><mn>1.25</mn><mn>10</mn></mstack>', [' 1.25', '10  ']],
    [
      '<mstack><mn>12</mn><mn>34</mn><msline/><msgroup shift="1"><mn>48</mn><mn>36</mn></msgroup></mstack>',
      [' 12', ' _3_4_', ' 48', '36 '],
    ],
    ['<mstack><mscarries><mn>1</mn><none/></mscarries><mn>19</mn></mstack>', ['1 ', '19']],
    ['<mlongdiv><mn>3</mn><mn>41</mn><mn>123</mn></mlongdiv>', ['  _4_1_', '3)123']],
  ];
  for (const [written, rows] of calculations) {
    const { text, faults } = convertFormulasInHtml(math(written), null);
    expect([digits(text), faults]).toEqual([rows, []]);
  }
});

test('MathML with a prefix, or of Temml, or that nothing draws', () => {
  const prefixed = '<m:math xmlns:m="x"><m:mi mathvariant="bold">v</m:mi></m:math>';
  expect(convertFormulasInHtml(prefixed, null).text).toBe('<math xmlns:m="x"><mi>𝐯</mi></math>');
  const own = '<math data-tex="x"><mi mathvariant="bold">x</mi></math>';
  expect(convertFormulasInHtml(own, null)).toEqual({ text: own, faults: [] });
  const content = math('<apply><plus/><ci>x</ci></apply>');
  const { text, faults } = convertFormulasInHtml(content, null);
  expect(text).toContain('<apply>');
  expect(faults).toEqual([
    'has MathML that browsers do not draw: <plus>',
    'has MathML that browsers do not draw: <ci>',
    'has MathML that browsers do not draw: <apply>',
  ]);
});

test.each<[what: string, html: string]>([
  ['beginnings without an end', '\\('.repeat(100_000)],
  ['dollar signs', '$a'.repeat(100_000)],
  [
    'spans over a thousand rows and columns',
    math(`<mtable>${row(cell('columnspan="1000" rowspan="1000"', 'x')).repeat(900)}</mtable>`),
  ],
  ['digits in a thousand columns', math(`<mstack>${`<mn>${'1'.repeat(3_000)}</mn>`.repeat(10)}</mstack>`)],
  ['fences in fences', math('<mfenced>'.repeat(400))],
])('%s take linear time', async (_what, html) => {
  const block = await longestBlock(() => Promise.resolve(convertFormulasInHtml(html, () => '')));
  // Work that grows with the square takes minutes.
  expect(block).toBeLessThan(10_000);
});
