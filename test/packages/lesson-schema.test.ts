import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newBlock } from '../../console/editor/forms/new-block.ts';
import { authoringWarnings } from '../../shared/lessons/authoring.ts';
import { coreWidgetFields } from '../../shared/lessons/core-widget-fields.ts';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import type { CoreWidgetType } from '../../shared/lessons/core-widgets.ts';
import { memberFields } from '../../shared/lessons/widget-fields.ts';
import type { Field, Fields } from '../../shared/lessons/widget-fields.ts';
import { convertBlocks } from '../../shared/packages/convert-blocks.ts';
import { checkLessonJson } from '../../shared/packages/lesson-json.ts';
import { lessonSchema } from '../../shared/packages/lesson-schema.ts';
import { FaultList } from '../../shared/packages/package-error.ts';

type Props = Record<string, unknown>;

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
(addFormats as unknown as (target: Ajv2020) => void)(ajv);
const validate = ajv.compile(lessonSchema());

/** Returns the places and reasons of the faults that the schema finds in a lesson. */
function faultsIn(lesson: unknown): string[] {
  validate(lesson);
  return (validate.errors ?? []).map(({ instancePath, message = '', params }) =>
    [instancePath, message, (params as { additionalProperty?: string }).additionalProperty].join(' ').trim(),
  );
}

const lessonOf = (blocks: unknown[], overrides: object = {}) => ({
  $schema: 'https://lectern.example.org/schemas/lesson.json',
  lesson: {
    id: '11111111-1111-4111-8111-111111111111',
    title: 'A lesson',
    widget_settings: { overrides },
  },
  sections: [{ title: 'One', steps: [{ title: 'A', content: { content: blocks } }] }],
});

test('the demo lesson and the examples of the documentation are valid', async () => {
  expect(faultsIn(JSON.parse(await readFile('demo/lesson/lesson.json', 'utf8')))).toEqual([]);
  const page = await readFile('docs/widgets.md', 'utf8');
  const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(
    ([, json = '']) => JSON.parse(json) as object,
  );
  const blocks = examples.filter((example) => 'props' in example);
  expect(blocks.length).toBeGreaterThan(5);
  expect(faultsIn(lessonOf(blocks))).toEqual([]);
  const [first] = [
    ...(await readFile('docs/packages.md', 'utf8')).matchAll(/```json\n(\{\s*"lesson".*?)```/gs),
  ];
  expect(faultsIn(JSON.parse(first?.[1] ?? ''))).toEqual([]);
});

test('each new block of the editor is valid, except for the right number, which only its author knows', () => {
  const valid = coreWidgetTypes.filter((type) => faultsIn(lessonOf([newBlock(type)])).length === 0);
  expect(valid).toEqual(coreWidgetTypes.filter((type) => type !== 'Numeric'));
});

test('unfinished questions, own widgets, zones and foreign props are valid', () => {
  const blocks = [
    { type: 'Numeric', props: { points: 0 } },
    { type: 'Math', props: { mathml: '<math></math>' } },
    { type: 'Globe', props: { points: 5, turns: [1] }, readOnly: {} },
    {
      type: 'Divider',
      props: { id: 'd', visibleIf: { variable: 'v', op: 'eq', value: 1 }, _mine: 1, puck: {} },
    },
    { type: 'Video', props: { src: 'v.mp4', captions: ['a.vtt', { src: 'b.vtt', language: 'de' }] } },
    { type: 'Numeric', props: { correct: 1, tolerance: '5%' } },
    { type: 'MultipleChoice', props: { choices: [{ id: 1, html: 'A' }], correct: [1] } },
  ];
  const lesson = lessonOf(blocks, { Image: { zoom: false }, Globe: { any: 1 } });
  const [step] = lesson.sections[0]?.steps ?? [];
  Object.assign(step?.content ?? {}, { root: {}, zones: { 'd:left': [{ type: 'Divider', props: {} }] } });
  expect(faultsIn(lesson)).toEqual([]);
});

const block = '/sections/0/steps/0/content/content/0';
const props = `${block}/props`;

test.each<[mistake: string, block: unknown, fault: string]>([
  [
    'a misspelled prop',
    { type: 'Heading', props: { text: '', levle: 2 } },
    `${props} must NOT have additional properties levle`,
  ],
  [
    'a level as a word',
    { type: 'Heading', props: { text: '', level: 'two' } },
    `${props}/level must be equal to one of the allowed values`,
  ],
  ['a block without props', { type: 'Divider' }, `${block} must have required property 'props'`],
  ['a block without a type', { props: {} }, `${block} must have required property 'type'`],
  ['text instead of blocks', { type: 'Callout', props: { body: '<p>Hi' } }, `${props}/body must be array`],
  [
    'a flat list of columns',
    { type: 'Columns', props: { columns: [{ type: 'Divider', props: {} }] } },
    `${props}/columns/0 must be array`,
  ],
  [
    'a picture without a file',
    { type: 'Image', props: { alt: '' } },
    `${props} must have required property 'src'`,
  ],
  [
    'props beside the type',
    { type: 'Text', html: '', props: {} },
    `${props} must have required property 'html'`,
  ],
  [
    'choices as texts',
    { type: 'MultipleChoice', props: { choices: ['A'] } },
    `${props}/choices/0 must be object`,
  ],
  [
    'a text of a choice under another name',
    { type: 'MultipleChoice', props: { choices: [{ text: 'A' }] } },
    `${props}/choices/0 must have required property 'html'`,
  ],
  [
    'one right choice without a list',
    { type: 'MultipleChoice', props: { choices: [], correct: 'a' } },
    `${props}/correct must be array`,
  ],
  ['a number as text', { type: 'Numeric', props: { correct: '3.4' } }, `${props}/correct must be number`],
  [
    'a tolerance with a unit',
    { type: 'Numeric', props: { correct: 1, tolerance: '5 m' } },
    `${props}/tolerance must match pattern`,
  ],
  [
    'a statement without truth',
    { type: 'TrueFalse', props: { prompt: 'So?' } },
    `${props} must have required property 'correct'`,
  ],
  [
    'a formula without a source',
    { type: 'Math', props: { tex: 'x' } },
    `${props} must have required property 'latex'`,
  ],
  [
    'a switch as text',
    { type: 'Flashcards', props: { cards: [], shuffle: 'yes' } },
    `${props}/shuffle must be boolean`,
  ],
  [
    'half a try',
    { type: 'Ordering', props: { items: [], attempts: 0.5 } },
    `${props}/attempts must be integer`,
  ],
  [
    'captions with an unknown member',
    { type: 'Audio', props: { src: '', captions: [{ src: '', lang: 'en' }] } },
    `${props}/captions/0 must NOT have additional properties lang`,
  ],
  [
    'an unknown condition',
    { type: 'Divider', props: { visibleIf: { op: '==' } } },
    `${props}/visibleIf/op must be equal to one of the allowed values`,
  ],
  [
    'points of an own widget as text',
    { type: 'Globe', props: { points: '5' } },
    `${props}/points must be number`,
  ],
  [
    'a mistake in a nested block',
    { type: 'Tabs', props: { tabs: [{ title: '', body: [{ type: 'Text', props: { htlm: '' } }] }] } },
    `${props}/tabs/0/body/0/props must NOT have additional properties htlm`,
  ],
])('%s is a fault at its place', (_mistake, given, fault) => {
  expect(faultsIn(lessonOf([given])).join('\n')).toContain(fault);
});

test('mistakes outside blocks are faults at their places', () => {
  const lesson = lessonOf([], { Image: { zom: false } });
  const given = { ...lesson, lesson: { ...lesson.lesson, title: ' ', language: 'en_US' } };
  expect(faultsIn(given).join('\n')).toMatch(
    /\/lesson\/title must match.*\/lesson\/language must match.*Image.*zom/s,
  );
  expect(faultsIn({ lesson: lesson.lesson }).join()).toContain("must have required property 'sections'");
  expect(faultsIn({ ...lesson, sections: [{ steps: {} }] }).join()).toContain(
    '/sections/0/steps must be array',
  );
});

const markup = fc.constantFrom('<p>Tides rise &amp; fall</p>', '', '<ul><li>Moon</li></ul>', 'in plain text');
const words = fc.stringMatching(/^[A-Za-z ]{0,20}$/);

function valueOf(field: Field, depth: number): fc.Arbitrary<unknown> {
  const members = memberFields(field);
  switch (field.kind) {
    case 'text':
      return field.isId ? fc.oneof(fc.uuid(), fc.nat()) : words;
    case 'number': {
      const number = field.isWhole
        ? fc.integer({ min: field.min ?? 0, max: field.max ?? 1_000 })
        : fc.double({ min: field.min ?? -1_000, max: field.max ?? 1_000, noNaN: true });
      return field.allowsPercentage ? fc.oneof(number, fc.constant('5%')) : number;
    }
    case 'boolean':
      return fc.boolean();
    case 'choice':
      return fc.constantFrom(...field.choices.map(({ value }) => value));
    case 'texts':
      return fc.array(words, { maxLength: 3 });
    case 'html':
      return markup;
    case 'blocks': {
      const blocks: fc.Arbitrary<object[]> =
        depth > 1 ? fc.constant([]) : fc.array(anyBlock(depth + 1), { maxLength: 2 });
      return field.inColumns ? fc.array(blocks, { maxLength: 2 }) : blocks;
    }
    case 'list':
      return fc.array(membersOf(field.fields, depth), { minLength: 1, maxLength: 3 });
    case 'object':
      return membersOf(field.fields, depth);
    case 'captions':
      return fc.oneof(words, fc.array(fc.oneof(words, membersOf(members ?? {}, depth)), { maxLength: 2 }));
    case 'image':
    case 'video':
    case 'audio':
      return fc.constantFrom('media:11111111-1111-4111-8111-111111111111', './media/tide.png');
  }
}

function membersOf(fields: Fields, depth: number): fc.Arbitrary<Props> {
  const values = Object.entries(fields).map(([name, field]) => [name, valueOf(field, depth)] as const);
  const requiredKeys = Object.entries(fields).flatMap(([name, { required }]) => (required ? [name] : []));
  return fc.record(Object.fromEntries(values), { requiredKeys });
}

/** What an author has to know besides the fields: which parts of a question belong together. */
const consistent: Partial<Record<CoreWidgetType, (props: Props) => Props>> = {
  MultipleChoice: (given) => ({ ...given, choices: numbered(given.choices), correct: ['p0'] }),
  FillInTheBlanks(given) {
    const blanks = numbered(given.blanks).map((blank) => ({ ...blank, answers: ['tide'] }));
    const text = blanks.map(({ id }) => `[[${id}]]`).join(' ');
    return { ...given, text, blanks, wordBank: true };
  },
  Matching: (given) => ({
    ...given,
    distractors: [],
    pairs: numbered(given.pairs).map((pair) => ({ ...pair, right: pair.id })),
  }),
  Ordering: (given) => ({
    ...given,
    items: [...numbered(given.items), { id: 'last', html: '' }].map((item) => ({ ...item, html: item.id })),
  }),
  Code: (given) => ({ ...given, language: 'python' }),
  Math: (given) => ({ ...given, latex: 'x^2' }),
};

function numbered(parts: unknown): (Props & { id: string })[] {
  return (parts as Props[]).map((part, index) => ({ ...part, id: `p${index}` }));
}

function blockOf(type: CoreWidgetType, depth: number): fc.Arbitrary<object> {
  const fix = consistent[type] ?? ((given) => given);
  return membersOf(coreWidgetFields[type], depth).map((given) => ({ type, props: fix(given) }));
}

function anyBlock(depth: number): fc.Arbitrary<object> {
  return fc.constantFrom(...coreWidgetTypes).chain((type) => blockOf(type, depth));
}

test('any lesson with the defined fields is valid, before and after an import without warnings', () => {
  const blocks = fc.tuple(...coreWidgetTypes.map((type) => blockOf(type, 0)));
  fc.assert(
    fc.property(blocks, (given) => {
      const lesson = lessonOf(given);
      expect(faultsIn(lesson)).toEqual([]);
      const faults = new FaultList();
      const checked = checkLessonJson(structuredClone(lesson), faults);
      faults.throwIfAny();
      if (checked === undefined) throw new Error('Unreachable: without faults there is content');
      const { content, warnings } = checked;
      expect([...warnings, ...convertBlocks(content), ...authoringWarnings(content)]).toEqual([]);
      expect(faultsIn(content)).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
