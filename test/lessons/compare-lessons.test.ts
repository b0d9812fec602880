import { expect, test } from 'vitest';
import { lessonDifferences } from '../../shared/lessons/compare-lessons.ts';
import type { Block, LessonContent } from '../../shared/lessons/lesson-content.ts';
import { withGeneratedIds } from '../../shared/packages/generated-ids.ts';
import { buildLesson, buildSection, buildStep } from './build-lesson.ts';

type Steps = Record<string, Block[]>;

const text = (id: string, html = id): Block => ({ type: 'Text', props: { id, html } });
const box = (id: string, ...body: Block[]): Block => ({ type: 'Callout', props: { id, body } });

/** A lesson with sections that have steps that have blocks, by their ids. */
function lessonOf(sections: Record<string, Steps>): LessonContent {
  return buildLesson({
    sections: Object.entries(sections).map(([id, steps], order_index) =>
      buildSection({
        ...{ id, title: id, order_index },
        steps: Object.entries(steps).map(([stepId, content], index) =>
          buildStep({ id: stepId, title: stepId, order_index: index, content: { content, root: {} } }),
        ),
      }),
    ),
  });
}

/** Returns differences as lines: what, how, and the values that changed. */
function compared(before: LessonContent, after: LessonContent): string[] {
  return [...lessonDifferences(before, after)].map(({ part, changes, values }) => {
    const former = part?.match?.parent ?? undefined;
    const from = former === part?.parent?.match ? '' : ` from ${former?.id}`;
    const changed = values.map(
      ({ path, before: old, after: now }) => ` ${path}: ${JSON.stringify(old)} → ${JSON.stringify(now)}`,
    );
    return `${part?.kind ?? 'lesson'} ${part?.id ?? ''} ${changes.join()}${part?.match ? from : ''}${changed.join()}`;
  });
}

const one = (...blocks: Block[]) => lessonOf({ s: { t: blocks } });

test.each<[what: string, before: LessonContent, after: LessonContent, differences: string[]]>([
  ['equal versions', one(text('a'), box('b', text('c'))), one(text('a'), box('b', text('c'))), []],
  [
    'an added, a removed and a changed block, each in its place',
    one(text('a'), text('b'), text('c')),
    one(text('n'), text('a'), text('c', 'new')),
    ['block n added', 'block b removed', 'block c changed html: "c" → "new"'],
  ],
  [
    'the fewest blocks that explain a new order',
    one(text('a'), text('b'), text('c'), text('d')),
    one(text('d'), text('a'), text('b'), text('c')),
    ['block d moved'],
  ],
  [
    'a block that another now holds, and one that was let out of it',
    one(text('a'), box('b', text('c'))),
    one(box('b', text('a')), text('c')),
    ['block a moved', 'block c moved'],
  ],
  [
    'a block of a slot that the later version lacks',
    one(box('b', text('c'))),
    one({ type: 'Callout', props: { id: 'b' } }),
    ['block c removed'],
  ],
  [
    'a block that went to another step, without what it holds',
    lessonOf({ s: { t: [text('x'), box('b', text('c'))], u: [text('y')] } }),
    lessonOf({ s: { t: [text('x')], u: [text('y'), box('b', text('c', 'new'))] } }),
    ['block b moved from t', 'block c changed from t html: "c" → "new"'],
  ],
  [
    'equal ids in several steps, which are different blocks',
    lessonOf({ s: { t: [text('x'), text('1')], u: [text('1', 'other')], v: [text('x')] } }),
    lessonOf({ s: { t: [text('x')], u: [text('1', 'other')], v: [text('x'), text('1')] } }),
    ['block 1 removed', 'block 1 added'],
  ],
  [
    'a step in another section, and sections in another order',
    lessonOf({ s: { t: [text('a')], u: [text('b')] }, r: { v: [text('c')] }, q: { w: [text('d')] } }),
    lessonOf({ q: { w: [text('d')] }, s: { t: [text('a')] }, r: { u: [text('b')], v: [text('c')] } }),
    ['section q moved', 'step u moved from s'],
  ],
  [
    'a removed section with all that was in it',
    lessonOf({ s: { t: [text('a')] }, r: { v: [text('c')] } }),
    lessonOf({ s: { t: [text('a')] } }),
    ['section r removed', 'step v removed', 'block c removed'],
  ],
  [
    'parts of a question by id, and their order',
    one({ type: 'Quiz', props: { id: 'q', choices: [{ id: 'x', html: 'X' }, { id: 'y' }, { id: 'z' }] } }),
    one({ type: 'Quiz', props: { id: 'q', choices: [{ id: 'z' }, { id: 'x', html: 'x' }, { id: 'n' }] } }),
    [
      'block q changed choices[x].html: "X" → "x", choices[n].id: undefined → "n", choices[y].id: "y" → undefined,' +
        ' choices: ["x","y","z"] → ["z","x","n"]',
    ],
  ],
  [
    'a panel without an id that was inserted before others, whose blocks stayed in theirs',
    one({ type: 'Tabs', props: { id: 'q', tabs: [{ title: 'A', body: [text('a')] }, { title: 'B' }] } }),
    one({
      type: 'Tabs',
      props: { id: 'q', tabs: [{ title: 'N' }, { title: 'A', body: [text('a', 'new')] }, { title: 'C' }] },
    }),
    [
      'block q changed tabs[0].title: undefined → "N", tabs[2].title: "B" → "C"',
      'block a changed html: "a" → "new"',
    ],
  ],
  [
    'missing, empty and other kinds of values',
    one({ type: 'A', props: { id: 'q', a: null, b: [], c: 1, d: [1, 2], e: { f: 1 }, g: 'same' } }),
    one({ type: 'B', props: { id: 'q', b: {}, c: '1', d: [2], e: [{ f: 1 }], g: 'same', __proto__x: 1 } }),
    [
      'block q changed type: "A" → "B", b: [] → {}, c: 1 → "1", d: [1,2] → [2], e: {"f":1} → [{"f":1}],' +
        ' __proto__x: undefined → 1, a: null → undefined',
    ],
  ],
])('a comparison finds %s', (_what, before, after, differences) => {
  expect(compared(before, after)).toEqual(differences);
});

test('settings of the lesson are compared, and what looks like a block there is a value', () => {
  const [before, after] = [one(text('a')), one(text('a'))];
  after.lesson = {
    ...{ ...after.lesson, title: 'Another title', status: 'draft' },
    widget_settings: { overrides: { Text: { type: 'x', props: { id: 'y' } } } },
  };
  expect(compared(before, after)).toEqual([
    'lesson  changed title: "A lesson" → "Another title", widget_settings.overrides.Text.type: undefined → "x",' +
      ' widget_settings.overrides.Text.props.id: undefined → "y"',
  ]);
});

test('a part whose id came from its text is matched by its place when the text changes', () => {
  const lesson = (title: string, ...texts: string[]) =>
    withGeneratedIds(
      buildLesson({
        sections: [
          {
            title: 'S',
            steps: [
              { title, content: { content: texts.map((html) => ({ type: 'Text', props: { html } })) } },
            ],
          },
        ] as never,
      }),
    );
  const found = [...lessonDifferences(lesson('One', 'a', 'b', 'c'), lesson('Two', 'a', 'B!', 'new', 'd'))];
  expect(
    found.map(({ part, changes, values }) => [part?.kind, changes, values.map(({ after }) => after)]),
  ).toEqual([
    ['step', ['changed'], ['Two']],
    ['block', ['changed'], ['B!']],
    ['block', ['changed'], ['new']],
    ['block', ['added'], []],
  ]);
});
