import { describe, expect, test } from 'vitest';

import type { Block, StepContent } from '../../shared/lessons/lesson-content.ts';
import { scoreMultipleChoice } from '../../shared/lessons/scoring/multiple-choice.ts';
import { outlineOf } from '../../shared/progress/outline.ts';
import { buildLesson, buildSection, buildStep, lessonWithContent } from '../lessons/build-lesson.ts';
import { buildQuestion, buildWidget } from './build-progress.ts';

const visibleIf = { variable: 'level', equals: 1 };

const widgetsOf = (content: StepContent, overrides: Record<string, unknown> = {}) => {
  const lesson = lessonWithContent(content);
  lesson.lesson.widget_settings.overrides = overrides;
  return outlineOf(lesson).sections[0]?.steps[0]?.widgets ?? [];
};
const questionOf = (block: Block, overrides?: Record<string, unknown>) =>
  widgetsOf({ content: [block], root: {} }, overrides)[0]?.question;
const conditionalIn = (content: StepContent, overrides?: Record<string, unknown>) =>
  widgetsOf(content, overrides)
    .filter(({ isConditional }) => isConditional)
    .map(({ widgetId }) => widgetId);

describe('the outline of a version', () => {
  test('has sections and steps in playing order, and counts the steps', () => {
    const steps = [buildStep({ id: 'b', order_index: 2 }), buildStep({ id: 'a', order_index: 1 })];
    const sections = [
      buildSection({ id: 'second', order_index: 5, steps: [buildStep({ id: 'c' })] }),
      buildSection({ id: 'first', order_index: 1, steps }),
    ];

    const outline = outlineOf(buildLesson({ sections, totalSteps: 99 }));

    expect(outline.sections.map(({ id, steps }) => [id, steps.map((step) => step.id)])).toEqual([
      ['first', ['a', 'b']],
      ['second', ['c']],
    ]);
    expect(outline.totalSteps).toBe(3);
  });

  test('has every widget in reading order, those in slots, in the root and in zones too', () => {
    const widgets = widgetsOf({
      content: [
        buildWidget('Callout', 'box', { body: [buildQuestion('in-box')] }),
        buildWidget('Columns', 'columns', {
          columns: [[buildWidget('Text', 'left')], [buildQuestion('right')]],
        }),
      ],
      root: { props: { footer: [buildWidget('Text', 'footer')] } },
      zones: { 'box:old': [buildWidget('Slider', 'in-zone')] },
    });

    const inContent = ['box', 'in-box', 'columns', 'left', 'right'];
    expect(widgets.map(({ widgetId }) => widgetId)).toEqual([...inContent, 'footer', 'in-zone']);
    expect(widgets.filter(({ isCore }) => !isCore).map(({ widgetType }) => widgetType)).toEqual(['Slider']);
  });

  test('omits blocks without a type, because they do not render', () => {
    expect(
      widgetsOf({ content: [{ props: { id: 'a' } }, { type: '', props: { id: 'b' } }], root: {} }),
    ).toEqual([]);
  });
});

describe('the question of a widget', () => {
  test('scores answers as the block itself does', () => {
    const block = buildQuestion('q', { correct: ['a', 'b'], points: 3, partialCredit: true });
    const question = questionOf(block);
    for (const answer of [[], ['a'], ['a', 'b'], ['c'], ['a', 'c'], 'a', null]) {
      expect(scoreMultipleChoice(question, answer)).toEqual(scoreMultipleChoice(block.props, answer));
    }
  });

  test.each<[title: string, block: Block]>([
    ['no right choice', buildQuestion('q', { correct: [] })],
    ['no points', buildQuestion('q', { points: 0 })],
    ['OpenResponse', buildWidget('OpenResponse', 'q')],
    ['a custom widget with the props of a question', { ...buildQuestion('q'), type: 'Poll' }],
  ])('is null for %s', (_title, block) => {
    expect(questionOf(block)).toBeNull();
  });

  test("takes missing props from the lesson's settings for the type", () => {
    const overrides = { MultipleChoice: { points: 5, partialCredit: true, correct: ['b'] } };
    expect(questionOf(buildQuestion('q', { partialCredit: false }), overrides)).toMatchObject({
      points: 5,
      partialCredit: false,
      correct: ['a'],
    });
  });

  test.each([
    { Slider: { points: 5 } },
    { MultipleChoice: [5] },
    { MultipleChoice: null },
    { MultipleChoice: 'points' },
  ])('keeps its own props under the settings %j', (overrides) => {
    expect(questionOf(buildQuestion('q'), overrides)?.points).toBe(1);
  });

  test('does not come from properties that every object inherits', () => {
    const none = { isCore: false, isConditional: false, question: null, declaredPoints: null };
    expect(
      widgetsOf({ content: [buildWidget('constructor', 'c'), buildWidget('__proto__', 'p')], root: {} }),
    ).toEqual([
      { widgetId: 'c', widgetType: 'constructor', ...none },
      { widgetId: 'p', widgetType: '__proto__', ...none },
    ]);
  });
});

describe('a widget is conditional', () => {
  const text = (id: string, props?: Record<string, unknown>) => buildWidget('Text', id, props);
  const box = (id: string, props?: Record<string, unknown>) => buildWidget('Callout', id, props);

  test.each<[title: string, blocks: Block[], conditional: string[], zones?: StepContent['zones']]>([
    ['under its own visibleIf', [text('a', { visibleIf }), text('b')], ['a']],
    [
      'under that of a block around it, however far',
      [
        text('a'),
        box('b', { visibleIf, body: [text('c'), box('d', { tabs: [{ pane: [text('e')] }] })] }),
        text('f'),
      ],
      ['b', 'c', 'd', 'e'],
    ],
    [
      'not under that of a block beside or inside it',
      [box('a', { body: [text('b', { visibleIf }), text('c')] })],
      ['b'],
    ],
    [
      'in a zone of a block that is, whatever the order of the zones',
      [box('a', { visibleIf }), box('b')],
      ['a', 'e', 'c', 'd'],
      { 'd:x': [text('e')], 'a:x': [text('c'), box('d')], 'b:x': [text('f')], 'g:x': [text('h')] },
    ],
  ])('%s', (_title, content, conditional, zones) => {
    expect(conditionalIn({ content, root: {}, ...(zones && { zones }) })).toEqual(conditional);
  });
});
