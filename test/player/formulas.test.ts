import { readFile } from 'node:fs/promises';
import temml from 'temml';
import { expect, test } from 'vitest';
import { convertBlocks } from '../../shared/packages/convert-blocks.ts';
import { lessonWithContent } from '../lessons/build-lesson.ts';
import { useWidgetPage } from './player-lab.ts';

const { lab, view, page } = useWidgetPage();

const temmlFolder = new URL('../../node_modules/temml/dist/', import.meta.url);

/** LaTeX whose meaning is lost without Temml's stylesheet, its inline styles or its font, and the other kinds. */
const constructs = String.raw`
\overline{x} = 0.\overline{3}
\underline{abc} + \overline{\overline{AB}}
\cancel{x} + \bcancel{xyz}
\xcancel{\frac{a}{b}}
\sout{abc}
\cancelto{0}{x} + \cancelto{\infty}{a+b}
\boxed{E = mc^2}
\fbox{text} + \fbox{$x$}
\begin{array}{c|c} a & b \\ \hline c & d \end{array}
\begin{array}{|l|cr|} \hline a & bb & c \\ \hline\hline aaa & b & ccc \\ \hline \end{array}
\begin{array}{c:c} a & b \\ \hdashline c & d \end{array}
\left[\begin{array}{cc|c} 1 & 2 & 3 \\ 4 & 5 & 6 \end{array}\right]
\color{red} x + y
\textcolor{blue}{a} + \textcolor{#0a0}{b} + \color{orange}{c}
\colorbox{yellow}{abc} + \fcolorbox{red}{aqua}{$x$}
\ce{^{235}_{92}U}
\ce{^{14}_{6}C -> ^{14}_{7}N + e- + \bar{\nu}_e}
\ce{2H2 + O2 -> 2H2O}
\ce{SO4^2- + Ba^2+ -> BaSO4 v}
\ce{A <=>[H+][\Delta] B}
\phase{30^\circ} + \angl{n}
\textcircled{a} + \longdiv{123}
\vec{v} + \overrightarrow{AB} + \overleftarrow{AB}
\hat{x} + \widehat{abc} + \tilde{n} + \widetilde{abc}
\bar{x} + \dot{x} + \ddot{x} + \check{x} + \breve{x} + \mathring{A}
\mathcal{ABC} + \mathscr{ABC}
\mathbb{RQZ} + \mathfrak{gA} + \mathbf{xA} + \boldsymbol{\alpha\beta}
\mathsf{Ax1} + \mathtt{Ax1} + \mathrm{Ax1} + \mathit{diff}
f'(x) + f''(x) + x'^2
\frac{1}{1 + \frac{1}{x}} + \dfrac{a}{b} + \tfrac{a}{b}
\sqrt{2} + \sqrt[3]{x^2 + 1}
\binom{n}{k} + {a \atop b} + {a \over b}
\sum_{i=1}^{n} i^2 = \prod_{k} k
\int_0^\infty e^{-x^2}\,dx + \oint f
\lim_{x \to 0} \frac{\sin x}{x}
\overbrace{a + b}^{n} + \underbrace{c + d}_{m}
\overset{!}{=} + \underset{x}{\max} + \stackrel{def}{=}
\xrightarrow{abc} + \xleftarrow[below]{above}
\begin{cases} x & x \ge 0 \\ -x & x < 0 \end{cases}
\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}
\begin{vmatrix} a & b \\ c & d \end{vmatrix} + \begin{Bmatrix} a \\ b \end{Bmatrix}
\begin{smallmatrix} a & b \\ c & d \end{smallmatrix}
\begin{aligned} a &= b + c \\ &= d \end{aligned}
\begin{align} a &= b \\ c &= d + e \end{align}
\begin{gather} a = b \\ ccc = d \end{gather}
\begin{equation} x = 1 \tag{2.1} \end{equation}
\begin{CD} A @>a>> B \\ @VVbV @VVcV \\ C @>>d> D \end{CD}
\bordermatrix{ & 1 & 2 \cr 1 & a & b \cr 2 & c & d }
\left( \frac{a}{b} \right] + \left. x \right|_{0}^{1}
\big( \Big( \bigg( \Bigg( x
\Bra{x} + \Ket{y} + \Braket{x|y}
{\small x} + {\Large x} + {\huge x}
\text{if } x > 0 \text{ and } \textbf{bold} \textit{italic} \texttt{tt} \textsf{sf}
\phantom{abc} x \hphantom{d} \vphantom{\frac{a}{b}} y
\smash{\frac{a}{b}} + \mathllap{ab} c + \mathrlap{/}0 + \mathclap{abc} d
\rule{1em}{0.5em} + \raisebox{0.5em}{up} + a\kern1em b \quad c \! d
\reflectbox{R} + \not= + \not\in
x^{2^{2^2}} + x_{i_j} + {}_a^b X_c^d
\dbinom{n}{k} + \sideset{_1^2}{_3^4}\prod
\mathbin{+} \operatorname{Var}(X) + a \bmod b \pmod{c}
\alpha \beta \gamma \Gamma \varepsilon \varphi \partial \nabla \hbar \ell
a \le b \ne c \approx d \equiv e \subseteq f \in g \forall \exists \neg
\begin{matrix} \ddots & \cdots & \vdots & \ldots \end{matrix}
\left\{ x \,\middle|\, x > 0 \right\}
\mathit{123} + \mathbf{123} + \bm{12}
\pu{123 kJ/mol}
\overgroup{AB} + \underline{\underline{x}} + \utilde{AB}
`
  .trim()
  .split('\n');

test('formulas are drawn as Temml draws them, pixel by pixel', async () => {
  expect(constructs.length).toBeGreaterThanOrEqual(60);
  const rows = constructs.map((latex) =>
    temml.renderToString(latex, { displayMode: true, throwOnError: true }),
  );
  const blocks = constructs.map((latex, index) => ({ type: 'Math', props: { id: `m${index}`, latex } }));
  expect(convertBlocks(lessonWithContent({ content: blocks, root: {} }))).toEqual([]);
  await view.show(blocks);
  await page.addStyleTag({
    content: `
      #blocks > div { margin: 0 !important; block-size: 130px; overflow: hidden }
      @font-face { font-family: Temml; src: url(/player/Temml.woff2) }`,
  });
  const [place] = await page.evaluate<Record<string, string | number>[]>(`
    [document.querySelector('.lectern-mathml')].map((holder) => {
      const { left, top, width } = holder.getBoundingClientRect();
      const row = holder.closest('#blocks > div').getBoundingClientRect();
      const { fontFamily, fontSize, color, textAlign, paddingTop } = getComputedStyle(holder);
      return { left, top: top - row.top + parseFloat(paddingTop), width, font: fontSize + ' ' + fontFamily, color, textAlign };
    })`);
  const reference = await lab.openWidgets();
  const sheet = await readFile(new URL('Temml-Local.css', temmlFolder), 'utf8');
  await reference.page.addStyleTag({
    content: `${sheet.replace("url('Temml.woff2')", 'url(/player/Temml.woff2)')}
      #blocks > div { position: relative; block-size: 130px; overflow: hidden }
      #blocks > div > div { position: absolute; left: ${Number(place?.left) - 16}px; top: ${place?.top}px;
        width: ${place?.width}px; font: ${place?.font}; color: ${place?.color}; text-align: ${place?.textAlign} }`,
  });
  await reference.page.evaluate(
    `document.getElementById('blocks').innerHTML = ${JSON.stringify(rows)}.map((row) => '<div><div>' + row + '</div></div>').join('')`,
  );
  const pictures = [];
  for (const shown of [page, reference.page]) {
    await shown.evaluate('document.fonts.load("16px Temml").then(() => document.fonts.ready)');
    pictures.push((await shown.locator('#blocks').screenshot()).toString('base64'));
  }
  const different = await page.evaluate<
    number[]
  >(`Promise.all(${JSON.stringify(pictures)}.map(async (picture) => {
    const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,' + picture)).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    canvas.drawImage(bitmap, 0, 0);
    return (row) => canvas.getImageData(0, row * 130, bitmap.width, 130).data;
  })).then(([ours, theirs]) => ${JSON.stringify(constructs)}.flatMap((_latex, row) => {
    const [a, b] = [ours(row), theirs(row)];
    return a.some((value) => value !== a[0]) && a.every((value, index) => value === b[index]) ? [] : [row];
  }))`);
  expect(different.map((row) => constructs[row])).toEqual([]);
});

const tex = (latex: string, display = false) =>
  temml.renderToString(latex, { displayMode: display, wrap: 'tex' });
const longSum = [...'abcdefghijklmnopqrstuvwxyz'].join(' + ');
const unbreakable = `\\frac{${longSum}}{2}`;

test.each(['en', 'ar'])(
  'wide formulas scroll from their beginning, and narrow ones are no tab stops (%s)',
  async (language) => {
    await page.setViewportSize({ width: 360, height: 700 });
    const html = `<p>a ${tex(unbreakable)} b ${tex('x^2')} c ${tex(longSum)}</p>`;
    const choices = [
      { id: 'a', html: tex(unbreakable) },
      { id: 'b', html: tex('x') },
    ];
    await view.show(
      [
        { type: 'Math', props: { id: 'm', mathml: tex(unbreakable, true) } },
        { type: 'Math', props: { id: 'n', mathml: tex('x', true) } },
        { type: 'Text', props: { id: 't', html } },
        { type: 'MultipleChoice', props: { id: 'c', prompt: 'p', choices, correct: ['a'] } },
      ],
      { language },
    );
    const holders = `[...document.querySelectorAll('.lectern-mathml')]`;
    await expect
      .poll(() => page.evaluate(`${holders}.map(({ tabIndex }) => tabIndex)`))
      .toEqual([0, -1, 0, -1, -1, 0, -1]);
    const scrolled =
      await page.evaluate(`${holders}.filter(({ tabIndex }) => tabIndex === 0).map((holder) => {
    const begins = holder.scrollLeft;
    holder.scrollLeft = 1e6;
    const [part, box] = [holder.querySelector('mfrac'), holder].map((node) => node.getBoundingClientRect());
    return [begins, Math.abs(part.right - box.right) < 8, holder.getAttribute('aria-label') !== ''];
  })`);
    expect(scrolled).toEqual([
      [0, true, true],
      [0, true, true],
      [0, true, true],
    ]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.setViewportSize({ width: 1280, height: 720 });
  },
);

test('formulas keep only styles that draw them where they are', async () => {
  const style = (text: string) => `<mrow style="${text}"><mi>x</mi></mrow>`;
  const kept = [
    'color: rgb(255, 0, 0);',
    'border-right: 0.06em solid;',
    'padding: 3pt;',
    'width: 90%;',
    'math-depth: 0;',
    'transform: scaleX(-1);',
  ];
  const removed = [
    'position: fixed; inset: 0',
    'position: absolute; right: 0; bottom: 0',
    'background-image: url(/leak.png)',
    'mask: url(/leak.png)',
    'transform: scale(90)',
    'margin-left: -300px',
    'margin-top: -20px',
    'width: 9999px',
    'color: var(--x)',
    'display: grid',
    'content: url(/leak.png)',
    'z-index: 9',
  ];
  const html = [...kept, ...removed].map(style).join('');
  const shifted =
    '<mpadded voffset="-900px" lspace="-99em" height="2em"><mi>y</mi></mpadded><mspace width="-800px"/>';
  const forged = '<menclose class="lectern-overlapped"><mrow class="tml-cancel"></mrow></menclose>';
  await view.show([{ type: 'Text', props: { id: 't', html: `<math>${html}${shifted}${forged}</math>` } }]);
  const styles = await page.evaluate(
    `[...document.querySelectorAll('mrow:has(> mi)')].map((row) => row.getAttribute('style') ?? '')`,
  );
  expect(styles).toEqual([
    ...kept.slice(0, 1),
    expect.stringContaining('border-right'),
    ...kept.slice(2),
    ...removed.map(() => ''),
  ]);
  const attributes = `['mpadded', 'mspace', 'menclose'].map((name) => document.querySelector('math ' + name).getAttributeNames()
    .map((attribute) => attribute + '=' + document.querySelector('math ' + name).getAttribute(attribute)).join())`;
  expect(await page.evaluate(attributes)).toEqual(['height=2em', '', 'class=']);
});

test('titles and labels show their formulas, and everything else as text', async () => {
  const title = `a < <b>${tex('x^2')} & more`;
  await view.show([
    { type: 'Heading', props: { id: 'h', text: title } },
    { type: 'Callout', props: { id: 'c', title, body: [] } },
    { type: 'Accordion', props: { id: 'a', panels: [{ title, body: [] }] } },
    { type: 'Tabs', props: { id: 't', tabs: [{ title, body: [] }] } },
    { type: 'TrueFalse', props: { id: 'q', prompt: 'p', correct: true, trueLabel: title } },
  ]);
  const places = ['h2', '.lectern-note-title', '.lectern-panel-name', '[role=tab]', '.lectern-choice-body'];
  for (const place of places) {
    expect(await page.locator(place).first().textContent()).toBe('a < <b>x2 & more');
    expect(await page.locator(place).first().locator('msup').count()).toBe(1);
  }
});
