import { expect, test } from 'vitest';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import { convertBlocks } from '../../shared/packages/convert-blocks.ts';
import { lessonWithContent } from '../lessons/build-lesson.ts';

function convert(...blocks: [type: string, props: Record<string, unknown>][]) {
  const content: Block[] = blocks.map(([type, props], index) => ({
    type,
    props: { id: `b${index}`, ...props },
  }));
  const warnings = convertBlocks(lessonWithContent({ content, root: {} }));
  return { props: content.map((block) => block.props), warnings };
}

test('LaTeX becomes MathML and programs become highlighted HTML, beside their sources', () => {
  const { props, warnings } = convert(
    ['Math', { latex: '\\frac{1}{2}' }],
    ['Code', { code: 'if x < 1: # "a"\n', language: 'python' }],
    ['Text', { latex: 'x', code: 'x' }],
    ...['$x$', '$$x$$', '\\(x\\)', '\\[x\\]', 'x'].map((latex): [string, { latex: string }] => [
      'Math',
      { latex },
    ]),
    ['Math', { latex: '\\mathop{op}' }],
  );
  expect(warnings).toEqual([]);
  expect(props[0]).toMatchObject({
    latex: '\\frac{1}{2}',
    mathml: expect.stringMatching(/^<math .*<mfrac>/),
  });
  expect(props[1]?.highlighted).toContain('x &lt; <span class="hljs-number">1</span>');
  expect(props[2]).toEqual({ id: 'b2', latex: 'x', code: 'x' });
  // Delimiters around LaTeX make no difference.
  expect(new Set(props.slice(3, 8).map(({ mathml }) => mathml)).size).toBe(1);
  expect(props[8]?.mathml).toMatch(/<mo [^>]*>op<\/mo>/);
});

test('programs of nothing but line breaks take no time', () => {
  const code = `${'\n'.repeat(49_990)}x`;
  const started = process.cpuUsage();
  const block: [string, Record<string, unknown>] = ['Code', { code, language: 'js' }];
  const { warnings } = convert(...Array.from({ length: 30 }, () => block));
  expect(warnings).toHaveLength(30);
  expect(warnings[0]).toContain('is not highlighted: "it has 1,000 spaces or line breaks in a row"');
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(1_000);
});

test('converting again, as after an export, changes nothing', () => {
  const { props } = convert(['Math', { latex: 'a^2' }], ['Code', { code: 'let a;', language: 'js' }]);
  const again = convert(['Math', props[0] ?? {}], ['Code', props[1] ?? {}]);
  expect(JSON.stringify(again.props)).toBe(JSON.stringify(props));
});

test('MathML without LaTeX stays, but a result never replaces what its source says', () => {
  const forged = '<img src=x>';
  const { props } = convert(
    ['Math', { mathml: '<math><mi>x</mi></math>' }],
    ['Math', { latex: '\\frac{', mathml: forged }],
    ['Code', { code: 'x', highlighted: forged }],
  );
  expect(props.map(({ mathml, highlighted }) => mathml ?? highlighted)).toEqual([
    '<math><mi>x</mi></math>',
    undefined,
    '',
  ]);
});

test.each<[hazard: string, type: string, props: Record<string, unknown>, warning: RegExp]>([
  ['LaTeX with an error', 'Math', { latex: '\\frac{' }, /latex is not valid LaTeX: ".*end of input/],
  ['a macro without end', 'Math', { latex: '\\def\\a{\\a\\a}\\a' }, /Too many expansions/],
  ['a link that runs a script', 'Math', { latex: '\\href{javascript:alert(1)}{x}' }, /Unsupported function/],
  ['braces 20,000 deep', 'Math', { latex: '{'.repeat(20_000) }, /is not valid LaTeX/],
  [
    'an unknown language',
    'Code',
    { code: 'x', language: 'pyton' },
    /is not highlighted: "the language .*pyton/,
  ],
  ['a huge program', 'Code', { code: 'x'.repeat(50_001), language: 'js' }, /has more than 50000 characters/],
])('%s gives a warning with its place, and is shown as it is', (_hazard, type, props, warning) => {
  const converted = convert([type, props]);
  expect(converted.warnings).toHaveLength(1);
  expect(converted.warnings[0]).toMatch(
    new RegExp(`^lesson\\.json: Section 1 \\(".*"\\), step 1 \\(".*"\\), ${type} "b0": (?:latex|code) `),
  );
  expect(converted.warnings[0]).toMatch(warning);
  expect(converted.props[0]).toEqual({ id: 'b0', ...props });
});
