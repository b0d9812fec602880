import { describe, expect, test } from 'vitest';
import { lessonBlocks, stepBlocks, usedWidgetTypes } from '../../shared/lessons/blocks.ts';
import type { Block, StepContent } from '../../shared/lessons/lesson-content.ts';
import { lessonWithContent, nested } from './build-lesson.ts';

const block = (type: string, id: string, props: Record<string, unknown> = {}): Block => ({
  type,
  props: { id, ...props },
});

const visited = (content: StepContent) =>
  [...stepBlocks(content)].map(({ block: { props }, path }) => [props.id, path]);

describe('walking the blocks of a step', () => {
  test('finds blocks in slots, arrays of slots, fields of objects, the root and zones, in reading order', () => {
    const content: StepContent = {
      content: [
        block('Callout', 'a', {
          body: [block('Text', 'b'), block('Callout', 'c', { body: [block('Text', 'd')] })],
        }),
        block('Columns', 'e', { columns: [[block('Text', 'f')], [], [block('Text', 'g')]] }),
        block('Tabs', 'h', {
          tabs: [{ label: 'One', pane: { body: [block('Text', 'i')] } }],
          single: block('Text', 'j'),
          lostItsType: { props: { id: 'k' } },
        }),
      ],
      root: { props: { footer: [block('Text', 'l')] } },
      zones: { 'a:left': [block('Text', 'm', { body: [block('Text', 'n')] })], plain: [block('Text', 'o')] },
    };
    expect(visited(content)).toEqual([
      ['a', 'content.content[0]'],
      ['b', 'content.content[0].props.body[0]'],
      ['c', 'content.content[0].props.body[1]'],
      ['d', 'content.content[0].props.body[1].props.body[0]'],
      ['e', 'content.content[1]'],
      ['f', 'content.content[1].props.columns[0][0]'],
      ['g', 'content.content[1].props.columns[2][0]'],
      ['h', 'content.content[2]'],
      ['i', 'content.content[2].props.tabs[0].pane.body[0]'],
      ['j', 'content.content[2].props.single'],
      ['k', 'content.content[2].props.lostItsType'],
      ['l', 'content.root.props.footer[0]'],
      ['m', 'content.zones["a:left"][0]'],
      ['n', 'content.zones["a:left"][0].props.body[0]'],
      ['o', 'content.zones.plain[0]'],
    ]);
  });

  test('treats objects inside props that are not blocks as plain data', () => {
    const style = { type: 'solid' };
    const rows = [{ type: 'x', props: 'y' }, { props: { a: 1 } }];
    const content = { content: [block('Table', 'a', { correct: ['a'], style, rows })], root: {} };
    expect(visited(content)).toEqual([['a', 'content.content[0]']]);
  });

  test('rejects content that is nested too deep with an error, not with a stack overflow', () => {
    let inner = block('Callout', 'innermost');
    for (let index = 0; index < 10_000; index += 1) inner = block('Callout', `c${index}`, { body: [inner] });
    for (const deep of [block('Text', 'a', { deep: nested(100_000) }), inner]) {
      const walk = () => [...stepBlocks({ content: [deep], root: {} })];
      expect(walk).toThrow('The content is nested deeper than 200 levels');
    }
  });

  test('walks a slot with more blocks than a call can have arguments', () => {
    const body = Array.from({ length: 150_000 }, (_, index) => block('Text', `t${index}`));
    expect([...stepBlocks({ content: [block('List', 'list', { body })], root: {} })]).toHaveLength(150_001);
  });
});

test('walking a lesson returns paths from the top of lesson.json, with the section and the step', () => {
  const lesson = lessonWithContent({ content: [block('Text', 'a')], root: {} });
  const [section] = lesson.sections;
  expect([...lessonBlocks(lesson)]).toEqual([
    {
      block: block('Text', 'a'),
      path: 'sections[0].steps[0].content.content[0]',
      section,
      step: section?.steps[0],
    },
  ]);
});

test('each widget type is used once, sorted, and a block without a type uses none', () => {
  const lesson = lessonWithContent({
    content: [block('Text', 'a'), block('Callout', 'b', { body: [block('Quiz', 'c'), block('Text', 'd')] })],
    root: {},
    zones: { z: [block('Audio', 'e'), block('', 'f'), { props: { id: 'g' } }] },
  });
  expect(usedWidgetTypes(lesson)).toEqual(['Audio', 'Callout', 'Quiz', 'Text']);
});
