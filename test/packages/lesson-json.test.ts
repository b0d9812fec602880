import { describe, expect, test } from 'vitest';

import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { checkLessonJson } from '../../shared/packages/lesson-json.ts';
import { FaultList, PackageError } from '../../shared/packages/package-error.ts';
import {
  buildBlock,
  buildLesson,
  buildSection,
  buildStep,
  lessonId,
  nested,
} from '../lessons/build-lesson.ts';

/** Returns a copy of a whole lesson with the value at a path replaced; `undefined` removes it. */
function changed(path: (string | number)[], value: unknown): unknown {
  const lesson = JSON.parse(JSON.stringify(buildLesson())) as Record<string, unknown>;
  let parent: Record<string | number, unknown> = lesson;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string | number, unknown>;
  parent[path.at(-1) ?? ''] = value;
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

const step = ['sections', 0, 'steps', 0];
const blocks = [...step, 'content', 'content'];

describe('lesson.json is rejected', () => {
  test.each<[(string | number)[], unknown, string]>([
    [['lesson'], undefined, 'lesson.json: lesson: is missing'],
    [['lesson'], [], 'lesson.json: lesson: must be an object'],
    [['lesson', 'id'], undefined, 'lesson.json: lesson.id: is missing'],
    [['lesson', 'id'], 'abc', 'lesson.json: lesson.id: must be a UUID'],
    [['lesson', 'title'], 7, 'lesson.json: lesson.title: must be a string'],
    [['lesson', 'title'], undefined, 'lesson.json: lesson.title: is missing'],
    [['lesson', 'title'], '', 'lesson.json: lesson.title: must have 1 to 500 characters, and is empty'],
    [['lesson', 'title'], ' \n', 'lesson.json: lesson.title: must have 1 to 500 characters, and is empty'],
    [
      ['lesson', 'title'],
      'x'.repeat(17_000_000),
      'lesson.json: lesson.title: must have 1 to 500 characters, and has 17000000',
    ],
    [
      ['lesson', 'title'],
      '😀'.repeat(501),
      'lesson.json: lesson.title: must have 1 to 500 characters, and has 501',
    ],
    [
      ['lesson', 'status'],
      'x'.repeat(101),
      'lesson.json: lesson.status: must be at most 100 characters, and has 101',
    ],
    [
      ['sections', 0, 'title'],
      'x'.repeat(501),
      'lesson.json: sections[0].title: must be at most 500 characters, and has 501',
    ],
    [
      [...step, 'title'],
      'x'.repeat(501),
      'lesson.json: sections[0].steps[0].title: must be at most 500 characters, and has 501',
    ],
    [
      [...blocks, 0, 'type'],
      'x'.repeat(256),
      'lesson.json: sections[0].steps[0].content.content[0].type: must be at most 255 characters, and has 256',
    ],
    [
      ['lesson', 'variable_definitions', 0],
      { name: 'x'.repeat(256), type: 'string' },
      'lesson.json: lesson.variable_definitions[0].name: must be at most 255 characters',
    ],
    [['lesson', 'slug'], 7, 'lesson.json: lesson.slug: must be a string'],
    [['lesson', 'slug'], '../..', 'lesson.json: lesson.slug: must have letters a-z or digits in it'],
    [['lesson', 'slug'], '', 'lesson.json: lesson.slug: must have letters a-z or digits in it'],
    [['lesson', 'status'], 1, 'lesson.json: lesson.status: must be a string'],
    [
      ['lesson', 'language'],
      'not a tag',
      'lesson.json: lesson.language: must be a language tag such as en or pt-BR',
    ],
    [['lesson', 'language'], 5, 'lesson.json: lesson.language: must be a string'],
    [
      ['lesson', 'estimatedDuration'],
      -1,
      'lesson.json: lesson.estimatedDuration: must be a number of minutes, 0 or more',
    ],
    [['lesson', 'estimatedDuration'], '5', 'lesson.json: lesson.estimatedDuration: must be a number'],
    [['lesson', 'variable_definitions'], {}, 'lesson.json: lesson.variable_definitions: must be an array'],
    [
      ['lesson', 'variable_definitions', 0],
      'x',
      'lesson.json: lesson.variable_definitions[0]: must be an object',
    ],
    [
      ['lesson', 'variable_definitions', 0, 'name'],
      '',
      'lesson.json: lesson.variable_definitions[0].name: must not be empty',
    ],
    [
      ['lesson', 'variable_definitions', 0, 'type'],
      3,
      'lesson.json: lesson.variable_definitions[0].type: must be a string',
    ],
    [['lesson', 'widget_settings'], 'x', 'lesson.json: lesson.widget_settings: must be an object'],
    [
      ['lesson', 'widget_settings', 'overrides'],
      [],
      'lesson.json: lesson.widget_settings.overrides: must be an object',
    ],
    [['sections'], undefined, 'lesson.json: sections: is missing'],
    [['sections'], {}, 'lesson.json: sections: must be an array'],
    [['sections', 0], null, 'lesson.json: sections[0]: must be an object'],
    [['sections', 0, 'id'], undefined, 'lesson.json: sections[0].id: is missing'],
    [['sections', 0, 'id'], '', 'lesson.json: sections[0].id: must not be empty'],
    [
      ['sections', 0, 'id'],
      'a\u0000b',
      'lesson.json: sections[0].id: must not have control characters in it',
    ],
    [['sections', 0, 'id'], 'a\ud800', 'lesson.json: sections[0].id: must not have control characters in it'],
    [['sections', 0, 'id'], 'x'.repeat(256), 'lesson.json: sections[0].id: must be at most 255 characters'],
    [['sections', 0, 'title'], null, 'lesson.json: sections[0].title: must be a string'],
    [['sections', 0, 'order_index'], '1', 'lesson.json: sections[0].order_index: must be a number'],
    [['sections', 0, 'order_index'], undefined, 'lesson.json: sections[0].order_index: is missing'],
    [['sections', 0, 'steps'], undefined, 'lesson.json: sections[0].steps: is missing'],
    [step, 1, 'lesson.json: sections[0].steps[0]: must be an object'],
    [[...step, 'id'], 1, 'lesson.json: sections[0].steps[0].id: must be a string'],
    [[...step, 'title'], undefined, 'lesson.json: sections[0].steps[0].title: is missing'],
    [[...step, 'order_index'], null, 'lesson.json: sections[0].steps[0].order_index: must be a number'],
    [[...step, 'content'], undefined, 'lesson.json: sections[0].steps[0].content: is missing'],
    [blocks, undefined, 'lesson.json: sections[0].steps[0].content.content: is missing'],
    [[...step, 'content', 'root'], [], 'lesson.json: sections[0].steps[0].content.root: must be an object'],
    [[...step, 'content', 'zones'], [], 'lesson.json: sections[0].steps[0].content.zones: must be an object'],
    [
      [...step, 'content', 'zones'],
      { 'a:b': {} },
      'lesson.json: sections[0].steps[0].content.zones["a:b"]: must be an array',
    ],
    [[...blocks, 0], 'x', 'lesson.json: sections[0].steps[0].content.content[0]: must be an object'],
    [[...blocks, 0], [], 'lesson.json: sections[0].steps[0].content.content[0]: must be an object'],
    [
      [...blocks, 0, 'type'],
      7,
      'lesson.json: sections[0].steps[0].content.content[0].type: must be a string',
    ],
    [
      [...blocks, 0, 'props'],
      undefined,
      'lesson.json: sections[0].steps[0].content.content[0].props: is missing',
    ],
    [
      [...blocks, 0, 'props', 'id'],
      undefined,
      'lesson.json: sections[0].steps[0].content.content[0].props.id: is missing',
    ],
    [
      [...blocks, 0, 'props', 'id'],
      'a\u001bb',
      'lesson.json: sections[0].steps[0].content.content[0].props.id: must not have control characters in it',
    ],
    [
      [...blocks, 0, 'props', 'body'],
      [{ type: 'Text', props: {} }],
      'lesson.json: sections[0].steps[0].content.content[0].props.body[0].props.id: is missing',
    ],
  ])('when %j is %j', (path, value, fault) => {
    expect(faultsOf(changed(path, value))).toEqual([fault]);
  });

  test.each([[null], [7], ['x'], [[]]])('when it is %j', (value) => {
    expect(faultsOf(value)).toEqual(['lesson.json: must be an object']);
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

  test('when a step has duplicate block ids, also in slots, the root and zones', () => {
    const same = { props: { id: 'x' } };
    const content = {
      content: [
        buildBlock({ props: { id: 'x', body: [buildBlock(same)] } }),
        buildBlock({ props: { id: 'y', columns: [[], [buildBlock(same)]] } }),
      ],
      root: { props: { slot: [buildBlock(same)] } },
      zones: { 'y:left': [buildBlock(same)] },
    };
    const at = 'lesson.json: sections[0].steps[0].content';
    const first = 'duplicate of sections[0].steps[0].content.content[0].props.id';

    expect(faultsOf(buildLesson({ sections: [buildSection({ steps: [buildStep({ content })] })] }))).toEqual([
      `${at}.content[0].props.body[0].props.id: ${first}`,
      `${at}.content[1].props.columns[1][0].props.id: ${first}`,
      `${at}.root.props.slot[0].props.id: ${first}`,
      `${at}.zones["y:left"][0].props.id: ${first}`,
    ]);
  });

  test('when a zone named __proto__ hides a duplicate block id', () => {
    const lesson = JSON.stringify(buildLesson()).replace(
      '"root":',
      '"zones":{"__proto__":[{"type":"Text","props":{"id":"Text-1"}}]},"root":',
    );

    expect(faultsOf(JSON.parse(lesson))).toEqual([
      'lesson.json: sections[0].steps[0].content.zones.__proto__[0].props.id: ' +
        'duplicate of sections[0].steps[0].content.content[0].props.id',
    ]);
  });

  test('with its first 20 errors and the number of the others', () => {
    const sections = Array.from({ length: 50 }, () => 'x');
    const faults = new FaultList();
    checkLessonJson({ ...buildLesson(), sections }, faults);

    expect(() => faults.throwIfAny()).toThrow(PackageError);
    try {
      faults.throwIfAny();
    } catch (error) {
      const { message, faults: all } = error as PackageError;
      const lines = message.split('\n');
      expect(lines).toHaveLength(21);
      expect(lines[0]).toBe('lesson.json: sections[0]: must be an object');
      expect(lines[20]).toBe('and 30 more');
      expect(all).toHaveLength(50);
    }
  });

  test('at its 10,000th error, without looking for more', () => {
    const check = () =>
      checkLessonJson(
        { ...buildLesson(), sections: Array.from({ length: 1_000_000 }, () => 1) },
        new FaultList(),
      );

    expect(check).toThrow(PackageError);
    expect(check).toThrow(/and at least 9980 more$/);
  });

  test('when it is nested too deep, with an error instead of a stack overflow', () => {
    const lesson = changed([...blocks, 0, 'props', 'deep'], undefined) as LessonContent;
    const block = lesson.sections[0]?.steps[0]?.content.content[0];
    if (block) block.props.deep = nested(10_000);

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
    const { slug, language, estimatedDuration, variable_definitions, widget_settings, status, ...meta } =
      buildLesson().lesson;
    expect([slug, language, estimatedDuration, variable_definitions, widget_settings, status]).not.toContain(
      undefined,
    );
    const { root, ...content } = buildStep().content;
    expect(root).toBeDefined();
    const lesson = { lesson: meta, sections: [{ ...buildSection(), steps: [{ ...buildStep(), content }] }] };

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

  test('with its totals computed instead of trusted', () => {
    const { content } = accepted({ ...buildLesson(), totalSections: 99, totalSteps: 'many' });

    expect([content.totalSections, content.totalSteps]).toEqual([1, 1]);
  });

  test('with the same block id in two steps', () => {
    const sections = [buildSection({ steps: [buildStep({ id: 'a' }), buildStep({ id: 'b' })] })];

    expect(faultsOf(buildLesson({ sections }))).toEqual([]);
  });

  test('with its id in lower case', () => {
    expect(
      accepted(changed(['lesson', 'id'], 'ABCDEFAB-0000-4000-8000-00000000000A')).content.lesson.id,
    ).toBe('abcdefab-0000-4000-8000-00000000000a');
  });

  test.each([
    ['Déjà Vu: the “Brain”!', 'deja-vu-the-brain'],
    ['  --a__b--  ', 'a-b'],
    ['fooBar', 'foobar'],
    ['x'.repeat(500), 'x'.repeat(100)],
    [`${'x'.repeat(99)} y`, 'x'.repeat(99)],
    ['心理学', `lesson-${lessonId.slice(0, 8)}`],
    ['../../etc/passwd', 'etc-passwd'],
  ])('with a slug made from its title: %s', (title, slug) => {
    const lesson = buildLesson();
    const { slug: _, ...meta } = { ...lesson.lesson, title };

    expect(_).toBe('a-lesson');
    expect(accepted({ ...lesson, lesson: meta }).content.lesson.slug).toBe(slug);
  });

  test('with a slug that is not a file name, which is converted with a warning', () => {
    const { content, warnings } = accepted(changed(['lesson', 'slug'], 'My Lesson/..'));

    expect(content.lesson.slug).toBe('my-lesson');
    expect(warnings).toEqual(['lesson.json: lesson.slug: "My Lesson/.." becomes "my-lesson"']);
  });

  test.each<[string, unknown, string]>([
    ['no sections', changed(['sections'], []), 'lesson.json: The lesson has no sections'],
    [
      'no steps',
      changed(['sections', 0, 'steps'], []),
      'lesson.json: Section 1 ("First section") has no steps',
    ],
    [
      'no blocks',
      changed(blocks, []),
      'lesson.json: Step "First step" in section "First section" has no blocks',
    ],
    [
      'no type',
      changed([...blocks, 0, 'type'], null),
      'lesson.json: Step "First step" in section "First section" has a block without a type (content.content[0])',
    ],
  ])('with a warning when it is unfinished: %s', (_what, lesson, warning) => {
    expect(accepted(lesson).warnings).toEqual([warning]);
  });

  test('with NUL and lone surrogates in its texts', () => {
    expect(accepted(changed([...blocks, 0, 'props', 'html'], 'a\u0000b\ud800')).content).toMatchObject({
      sections: [{ steps: [{ content: { content: [{ props: { html: 'a\u0000b\ud800' } }] } }] }],
    });
  });
});
