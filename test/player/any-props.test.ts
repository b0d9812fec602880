import fc from 'fast-check';
import { expect, it } from 'vitest';
import { coreWidgetTypes, type CoreWidgetType } from '../../shared/lessons/core-widgets.ts';
import { useWidgetLab } from './use-widget-lab.ts';
import type { SampleBlock } from './widget-page.ts';

const file = useWidgetLab();

const anything = fc.jsonValue({ maxDepth: 3 });
const markup = fc.oneof(
  fc.string(),
  fc.constantFrom('<p>a', '</div>', '<table><tr>', '<math display="block">', '<img src=x>'),
  anything,
);
const address = fc.oneof(
  fc.constantFrom('media:x', 'http://[', 'data:text/vtt,', 'blob:x', '//', 'x:'),
  anything,
);
const identifier = fc.oneof(fc.constantFrom('a', 'b', '', 0, 'toString', '__proto__'), anything);
const listOf = (of: fc.Arbitrary<unknown>) => fc.oneof(fc.array(of, { maxLength: 4 }), anything);
const partly = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof({ weight: 4, arbitrary: fc.record(members, { requiredKeys: [] }) }, anything);

const captions = listOf(partly({ src: address, language: markup, label: markup }));
const nested = partly({ type: fc.constantFrom('Text', 5, null), props: partly({ html: markup }) });

const propsOf: Record<CoreWidgetType, fc.Arbitrary<unknown>> = {
  Heading: partly({ text: markup, level: anything }),
  Text: partly({ html: markup }),
  Image: partly({ src: address, alt: markup, caption: markup, zoom: anything }),
  Video: partly({ src: address, poster: address, captions, transcript: markup }),
  Audio: partly({ src: address, captions, transcript: markup }),
  Callout: partly({ title: markup, body: listOf(nested) }),
  Columns: partly({ columns: listOf(listOf(nested)) }),
  MultipleChoice: partly({
    prompt: markup,
    choices: listOf(partly({ id: identifier, html: markup, feedback: markup })),
    correct: listOf(identifier),
    multiple: anything,
    points: anything,
    partialCredit: anything,
    attempts: anything,
    feedback: partly({ right: markup, partly: markup, wrong: markup }),
    explanation: markup,
  }),
  OpenResponse: partly({ prompt: markup, sampleAnswer: markup }),
};

it.each(coreWidgetTypes)('%s accepts any props and any saved answer', async (type) => {
  const block = fc.tuple(propsOf[type], fc.oneof(listOf(identifier), anything));
  const page = fc.array(block, { minLength: 40, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(page, async (cases) => {
      const states = Object.fromEntries(cases.map(([, state], index) => [`b${index}`, state]));
      const blocks = cases.map(([props], index): SampleBlock => ({
        type,
        props: withId(props, `b${index}`),
      }));
      // The page must have the type of the nested blocks.
      await file.shared.show([...blocks, { type: 'Text', props: {} }], { states });
      await file.shared.page.evaluate(
        `document.querySelectorAll('button').forEach((button) => button.click())`,
      );
      expect(await file.shared.failures()).toEqual([]);
    }),
    { numRuns: 5 },
  );
});

/** Props that are an object get an id, so that they can have a saved answer. */
function withId(props: unknown, id: string): unknown {
  return typeof props === 'object' && props !== null && !Array.isArray(props) ? { ...props, id } : props;
}
