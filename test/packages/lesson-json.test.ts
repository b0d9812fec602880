import { describe, expect, test } from 'vitest';
import { lessonBlocks } from '../../shared/lessons/blocks.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { checkLessonJson } from '../../shared/packages/lesson-json.ts';
import { FaultList, PackageError } from '../../shared/packages/package-error.ts';
import {
  buildBlock,
  buildLesson,
  buildSection,
  buildStep,
  lessonId,
  lessonWithContent,
  nested,
} from '../lessons/build-lesson.ts';

/** Returns a copy of a whole lesson with the value at a path replaced; `undefined` removes it. */
function changed(path: string, value: unknown): unknown {
  const lesson = JSON.parse(JSON.stringify(buildLesson())) as Record<string, unknown>;
  const keys = path.match(/\w+/g) ?? [];
  let parent = lesson;
  for (const key of keys.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  parent[keys.at(-1) ?? ''] = value;
  return JSON.parse(JSON.stringify(lesson));
}

function faultsOf(value: unknown): string[] {
  const faults = new FaultList();
  const result = checkLessonJson(value, faults);
  try {
    faults.throwIfAny();
  } catch (error) {
    expect(result).toBeUndefined();
    return (error as PackageError).faults;
  }
  return [];
}

function accepted(value: unknown): { content: LessonContent; warnings: string[] } {
  const faults = new FaultList();
  const result = checkLessonJson(value, faults);
  faults.throwIfAny();
  if (result === undefined) throw new Error('No fault and no result');
  return result;
}

const section = 'sections[0]';
const step = `${section}.steps[0]`;
const block = `${step}.content.content[0]`;
const variable = 'lesson.variable_definitions[0]';
const firstStep = 'Step "First step" in section "First section"';
const noControls = 'must not contain control characters';
const noLetters = 'must have letters a-z or digits in it';

describe('lesson.json is rejected', () => {
  test.each<[path: string, value: unknown, fault: string, place?: string]>([
    ['lesson', [], 'must be an object'],
    ['lesson.id', 'abc', 'must be a UUID'],
    ['lesson.title', 7, 'must be a string'],
    ['lesson.title', 'x'.repeat(17_000_000), 'must have 1 to 500 characters, and has 17000000'],
    ['lesson.status', 'x'.repeat(101), 'must be at most 100 characters, and has 101'],
    ['lesson.slug', '../..', noLetters],
    ['lesson.language', 'not a tag', 'must be a language tag such as en or pt-BR'],
    [`${variable}.name`, 'x'.repeat(256), 'must be at most 255 characters'],
    ['lesson.widget_settings.overrides', [], 'must be an object'],
    [
      'lesson.widget_settings.fields',
      JSON.parse('{ "__proto__": {} }'),
      'must have no field named __proto__',
    ],
    ['sections', {}, 'must be an array'],
    [section, null, 'must be an object'],
    [`${section}.id`, 'a\ud800', noControls],
    [`${section}.id`, 'x'.repeat(256), 'must be at most 255 characters'],
    [`${section}.steps`, undefined, 'is missing'],
    [`${step}.content.root`, [], 'must be an object'],
    [block, 'x', 'must be an object'],
    [`${block}.type`, 7, 'must be a string'],
    [`${block}.props.id`, 'a\u001bb', noControls],
    [
      `${block}.props.body`,
      [{ type: 'Text', props: { id: '' } }],
      'must not be empty',
      `${block}.props.body[0].props.id`,
    ],
    ['lesson', undefined, 'is missing'],
  ])('when $0 is wrong: it $2', (path, value, fault, place = path) => {
    expect(faultsOf(changed(path, value))).toEqual([`lesson.json: ${place}: ${fault}`]);
  });

  test.each([[null], [7], ['x'], [[]]])('when it is %j', (value) => {
    expect(faultsOf(value)).toEqual(['lesson.json: must be an object']);
  });

  test('with the faults of every level, whatever the levels above have', () => {
    const blocks = [
      { props: { id: 7 } },
      { type: 'Callout', props: { id: '', body: [{ type: 'Text', props: { id: 7 } }] } },
    ];
    const steps = [{ id: '', content: { content: blocks, zones: { a: 1 } } }, { title: 'b' }, 3];
    const lesson = { title: 1, slug: '/', variable_definitions: [{}] };
    expect(faultsOf({ lesson, sections: [{ order_index: 'x', steps }] })).toEqual(
      [
        'lesson.title: must be a string',
        'lesson.id: is missing',
        `lesson.slug: ${noLetters}`,
        `${variable}.name: is missing`,
        `${variable}.type: is missing`,
        `${section}.title: is missing`,
        `${section}.order_index: must be a number`,
        `${step}.id: must not be empty`,
        `${step}.title: is missing`,
        `${step}.content.zones.a: must be an array`,
        `${block}.props.id: must be a string`,
        `${step}.content.content[1].props.id: must not be empty`,
        `${step}.content.content[1].props.body[0].props.id: must be a string`,
        `${section}.steps[1].content: is missing`,
        `${section}.steps[2]: must be an object`,
      ].map((fault) => `lesson.json: ${fault}`),
    );
  });

  test('when the lesson has duplicate section or step ids', () => {
    const sections = [
      buildSection({ id: 'a', steps: [buildStep({ id: 's' })] }),
      buildSection({ id: 'a', steps: [buildStep({ id: 't' }), buildStep({ id: 's' })] }),
    ];
    expect(faultsOf(buildLesson({ sections }))).toEqual([
      'lesson.json: sections[1].id: duplicate of sections[0].id',
      'lesson.json: sections[1].steps[1].id: duplicate of sections[0].steps[0].id',
    ]);
  });

  test('when a step has duplicate block ids, also in slots, the root and zones, even one named __proto__', () => {
    const same = buildBlock({ props: { id: 'x' } });
    const content = {
      content: [
        buildBlock({ props: { id: 'x', body: [same] } }),
        buildBlock({ props: { id: 'y', columns: [[], [same]] } }),
      ],
      root: { props: { slot: [same] } },
      zones: { 'y:left': [same], hidden: [same] },
    };
    const lesson = JSON.stringify(changed(`${step}.content`, content)).replace('"hidden"', '"__proto__"');
    const at = `lesson.json: ${step}.content`;
    const first = `duplicate of ${block}.props.id`;
    expect(faultsOf(JSON.parse(lesson))).toEqual([
      `${at}.content[0].props.body[0].props.id: ${first}`,
      `${at}.content[1].props.columns[1][0].props.id: ${first}`,
      `${at}.root.props.slot[0].props.id: ${first}`,
      `${at}.zones["y:left"][0].props.id: ${first}`,
      `${at}.zones.__proto__[0].props.id: ${first}`,
    ]);
  });

  test('with its first 20 faults and the number of the others', () => {
    const faults = new FaultList();
    checkLessonJson({ ...buildLesson(), sections: Array(50).fill('x') }, faults);
    let error: unknown;
    try {
      faults.throwIfAny();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PackageError);
    const { message, faults: all } = error as PackageError;
    const lines = message.split('\n');
    expect(lines).toHaveLength(21);
    expect(lines[0]).toBe('lesson.json: sections[0]: must be an object');
    expect(lines[20]).toBe('and 30 more');
    expect(all).toHaveLength(50);
  });

  test('at its 10,000th fault, without looking for more', () => {
    const lesson = { ...buildLesson(), sections: Array(1_000_000).fill(1) };
    const check = () => checkLessonJson(lesson, new FaultList());
    expect(check).toThrow(PackageError);
    expect(check).toThrow(/and at least 9980 more$/);
  });

  const blocksOf = (count: number) =>
    Array.from({ length: count }, (_, index) => buildBlock({ props: { id: `b${index}` } }));
  const longId = 'x'.repeat(2_000_000);
  const longChoice = { id: 'q', choices: [{ id: longId, html: 'a' }], correct: [longId] };
  test.each([
    [blocksOf(20_000), /^lesson\.json: has 20002 sections, steps and blocks; at most 20000 are allowed$/],
    [
      [{ type: 'MultipleChoice', props: longChoice }],
      /^lesson\.json: has too many or too long ids of blocks and choices: \d+ characters/,
    ],
  ])('when it is too large: $1', (content, fault) => {
    expect(faultsOf(lessonWithContent({ content, root: {} }))).toEqual([expect.stringMatching(fault)]);
  });

  test('with so many settings for a widget type that preparing each block would take long', () => {
    const settings = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 0]));
    const lesson = lessonWithContent({ content: blocksOf(1000), root: {} });
    const { type } = buildBlock();
    lesson.lesson.widget_settings = { overrides: { [String(type)]: settings } };
    expect(faultsOf(lesson)).toEqual([
      `lesson.json: lesson.widget_settings.overrides.${type}: has 100000 settings; at most 200 are allowed`,
    ]);
  });

  test('when it is nested too deep, with an error instead of a stack overflow', () => {
    const deep = buildBlock({ props: { id: 'a', deep: nested(10_000) } });
    const lesson = lessonWithContent({ content: [deep], root: {} });
    expect(() => checkLessonJson(lesson, new FaultList())).toThrow('nested deeper than 200 levels');
  });
});

describe('lesson.json is accepted', () => {
  test('unchanged, with all unknown fields in their order', () => {
    const lesson = { x: 1, ...buildLesson(), y: { z: [1] } };
    lesson.lesson = { extra: true, ...lesson.lesson };
    const { content, warnings } = accepted(lesson);
    expect(JSON.stringify(content)).toBe(JSON.stringify(lesson));
    expect(warnings).toEqual([]);
  });

  test('without optional fields, which get defaults', () => {
    const { content } = buildStep().content;
    const steps = [{ ...buildStep(), content: { content } }];
    const lesson = { lesson: { id: lessonId, title: 'A lesson' }, sections: [{ ...buildSection(), steps }] };
    const result = accepted(lesson).content;
    expect(result.lesson).toEqual({
      id: lessonId,
      title: 'A lesson',
      slug: 'a-lesson',
      status: 'draft',
      variable_definitions: [],
      widget_settings: { overrides: {} },
    });
    expect(result.sections[0]?.steps[0]?.content.root).toEqual({});
    expect([result.totalSections, result.totalSteps]).toEqual([1, 1]);
  });

  describe('without ids and orders, which it gets', () => {
    /** Builds a lesson of steps with blocks, and returns the ids of both. */
    const idsOf = (titled: Record<string, object[]>, sectionTitle = 'A') => {
      const steps = Object.entries(titled).map(([title, content]) => ({
        title,
        content: { content: structuredClone(content) },
      }));
      const { sections } = accepted({ ...buildLesson(), sections: [{ title: sectionTitle, steps }] }).content;
      const [only] = sections;
      return Object.fromEntries(
        only?.steps.map(({ id, title, content: { content } }) => [
          title,
          [id, ...content.map(({ props }) => props.id)],
        ]) ?? [],
      );
    };
    const text = (html: string) => ({ type: 'Text', props: { html } });
    const question = (prompt: string, more = {}) => ({ type: 'MultipleChoice', props: { prompt, ...more } });
    const [q1, q2] = [question('<p>What is a tide?</p>'), question('Why two?')];
    const before = idsOf({ Moon: [text('a'), q1, q2], Sun: [q1] });

    test('by which answers stay with their questions when other parts come, go, move or change', () => {
      expect(before).toEqual(idsOf({ Moon: [text('a'), q1, q2], Sun: [q1] }, 'Another section'));
      const corrected = question('What is a Tide', { points: 2, explanation: 'e' });
      const after = idsOf({
        New: [question('New?'), text('b')],
        Sun: [q1],
        Moon: [question('New?'), q2, text('c'), corrected],
      });
      const [moon, , first, second] = before.Moon ?? [];
      expect(after.Moon?.[0]).toBe(moon);
      expect(after.Moon?.[2]).toBe(second);
      expect(after.Sun?.[0]).toBe(before.Sun?.[0]);
      expect([after.Sun?.[1], after.Moon?.[4]]).toEqual([first, `${first}-2`]);
    });

    test.each([
      [
        'signs',
        ['2 + 3 = ?', '2 × 3 = ?', '2 * 3 = ?', '2 - 3 = ?', '2.3 = ?', '23 = ?', '-23', '23 %', '😀', '😢'],
      ],
      ['spaces around signs', ['x < y', 'x > y', '1/2', '12', '1 / 2 3']],
    ])('that differ by %s', (_what, prompts) => {
      const { S: [, ...ids] = [] } = idsOf({ S: prompts.map((prompt) => question(prompt)) });
      const { S: [, ...reversed] = [] } = idsOf({
        S: prompts.toReversed().map((prompt) => question(prompt)),
      });
      expect(new Set(ids).size).toBe(prompts.length);
      expect(ids).toEqual(reversed.toReversed());
    });

    test('that differ by choices, where a prompt is the same', () => {
      const [one, two] = ['x', 'y'].map((html) => question('Choose.', { choices: [{ id: 'a', html }] }));
      const { S: [, ...ids] = [] } = idsOf({ S: [one ?? {}, two ?? {}] });
      expect(idsOf({ S: [two ?? {}, one ?? {}] }).S?.slice(1)).toEqual(ids.toReversed());
    });

    test('for choices, pairs and items by their texts, with the right choices by text or mark', () => {
      const propsOf = (type: string, props: object): Record<string, unknown> => {
        const content = [{ type, props: structuredClone(props) }];
        const sections = [{ title: 'A', steps: [{ title: 'S', content: { content } }] }];
        const [found] = [...lessonBlocks(accepted({ ...buildLesson(), sections }).content)];
        return found?.block.props ?? {};
      };
      const idsIn = (list: unknown) => (list as { id: string }[]).map(({ id }) => id);
      const given = { id: 'tide', html: 'Tide' };
      const byText = propsOf('MultipleChoice', {
        choices: [
          { html: '<b>Wind</b>' },
          given,
          { html: '<img src="media/a.png">' },
          { html: '<img src="media/b.png">' },
        ],
        correct: ['<b>Wind</b>', 'tide'],
      });
      const [wind, tide, ...pictures] = idsIn(byText.choices);
      expect(wind).toMatch(/^choice-[0-9a-f]{10}$/);
      expect([tide, byText.correct]).toEqual(['tide', [wind, 'tide']]);
      const marked = propsOf('MultipleChoice', {
        choices: [
          { html: '<img src="media/b.png">' },
          { ...given, correct: true },
          { html: 'wind', correct: true },
          { html: '<img src="media/a.png">' },
        ],
      });
      expect(idsIn(marked.choices)).toEqual([pictures[1], 'tide', wind, pictures[0]]);
      expect(marked.correct).toEqual(['tide', wind]);
      const pairs = [
        { left: 'Sun', right: 'Star' },
        { left: 'Moon', right: 'Satellite' },
      ];
      const [sun, moon] = idsIn(propsOf('Matching', { pairs }).pairs);
      const edited = propsOf('Matching', {
        pairs: [{ left: 'Moon', right: 'A satellite' }, { left: 'Mars', right: 'Planet' }, pairs[0]],
        distractors: [{ html: 'Moon' }],
      });
      const [first, , third] = idsIn(edited.pairs);
      expect([first, third]).toEqual([moon, sun]);
      expect(new Set([...idsIn(edited.pairs), ...idsIn(edited.distractors)]).size).toBe(4);
      const items = idsIn(
        propsOf('Ordering', { items: [{ html: 'a' }, { html: 'b' }, { html: 'b' }] }).items,
      );
      expect(new Set(items).size).toBe(3);
      const own = { choices: [{ id: 'a', html: 'A', correct: true }] };
      expect(propsOf('MultipleChoice', own)).toMatchObject(own);
      expect(propsOf('MultipleChoice', own)).not.toHaveProperty('correct');
    });

    test('unique ones, also beside given ids, in slots, and for any text', () => {
      const [, id] = before.Sun ?? [];
      const blocks = [
        { type: 'Text', props: { id } },
        { props: {} },
        q1,
        q1,
        text(''),
        { type: 'Callout', props: { body: [q1, text('')] } },
      ];
      const sections = ['', '', '心理学'].map((title, index) => ({
        ...(index === 1 && { id: 'own', order_index: 7 }),
        title,
        steps: [{ title: '', content: { content: JSON.parse(JSON.stringify(blocks)) as object[] } }],
      }));
      const { content } = accepted({ ...buildLesson(), sections });
      const steps = content.sections.flatMap((made) => made.steps);
      const ids = [...lessonBlocks(content)]
        .map(({ block: { props } }) => props.id)
        .filter((made) => made !== id);
      expect(new Set(ids).size).toBe(21);
      for (const parts of [content.sections, steps])
        expect(new Set(parts.map((part) => part.id)).size).toBe(3);
      expect(content.sections.map(({ order_index: order }) => order)).toEqual([0, 7, 2]);
      expect(accepted(structuredClone(content)).content).toEqual(content);
    });

    test('and the lesson the id of manifest.json', () => {
      const lesson = changed('lesson.id', undefined);
      expect(checkLessonJson(lesson, new FaultList(), lessonId)?.content.lesson.id).toBe(lessonId);
    });
  });

  test('with its totals computed instead of trusted', () => {
    const { content } = accepted({ ...buildLesson(), totalSections: 99, totalSteps: 'many' });
    expect([content.totalSections, content.totalSteps]).toEqual([1, 1]);
  });

  test('with the same block id in two steps', () => {
    const sections = [buildSection({ steps: [buildStep({ id: 'a' }), buildStep({ id: 'b' })] })];
    expect(faultsOf(buildLesson({ sections }))).toEqual([]);
  });

  test('with its id in lower case', () => {
    const { content } = accepted(changed('lesson.id', 'ABCDEFAB-0000-4000-8000-00000000000A'));
    expect(content.lesson.id).toBe('abcdefab-0000-4000-8000-00000000000a');
  });

  test.each([
    ['Déjà Vu: the “Brain”!', 'deja-vu-the-brain'],
    ['x'.repeat(500), 'x'.repeat(100)],
    [`${'x'.repeat(99)} y`, 'x'.repeat(99)],
    ['心理学', `lesson-${lessonId.slice(0, 8)}`],
    ['../../etc/passwd', 'etc-passwd'],
  ])('with a slug made from its title: %s', (title, slug) => {
    const lesson = changed('lesson.slug', undefined) as LessonContent;
    lesson.lesson.title = title;
    expect(accepted(lesson).content.lesson.slug).toBe(slug);
  });

  test('with a slug that is not a file name, which is converted with a warning', () => {
    const { content, warnings } = accepted(changed('lesson.slug', 'My Lesson/..'));
    expect(content.lesson.slug).toBe('my-lesson');
    expect(warnings).toEqual(['lesson.json: lesson.slug: "My Lesson/.." becomes "my-lesson"']);
  });

  test.each([
    ['sections', [], 'The lesson has no sections'],
    [`${section}.steps`, [], 'Section 1 ("First section") has no steps'],
    [`${step}.content.content`, [], `${firstStep} has no blocks`],
    [`${block}.type`, null, `${firstStep} has a block without a type (content.content[0])`],
  ])('with a warning when it is unfinished: %s is %j', (path, value, warning) => {
    expect(accepted(changed(path, value)).warnings).toEqual([`lesson.json: ${warning}`]);
  });

  test('with NUL and lone surrogates in its texts', () => {
    expect(accepted(changed(`${block}.props.html`, 'a\u0000b\ud800')).content).toMatchObject({
      sections: [{ steps: [{ content: { content: [{ props: { html: 'a\u0000b\ud800' } }] } }] }],
    });
  });
});
