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
        }),
      ],
      root: { props: { footer: [block('Text', 'k')] } },
      zones: { 'a:left': [block('Text', 'l', { body: [block('Text', 'm')] })], plain: [block('Text', 'n')] },
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
      ['k', 'content.root.props.footer[0]'],
      ['l', 'content.zones["a:left"][0]'],
      ['m', 'content.zones["a:left"][0].props.body[0]'],
      ['n', 'content.zones.plain[0]'],
    ]);
  });

  test('treats objects inside props that are not blocks as plain data', () => {
    const props = {
      correct: ['a'],
      style: { type: 'solid' },
      rows: [{ type: 'x', props: 'y' }, { props: { a: 1 } }],
    };

    expect(visited({ content: [block('Table', 'a', props)], root: {} })).toEqual([
      ['a', 'content.content[0]'],
    ]);
  });

  test('finds a nested block that lost its type by its id', () => {
    const content = { content: [block('Callout', 'a', { body: [{ props: { id: 'b' } }] })], root: {} };

    expect(visited(content).map(([id]) => id)).toEqual(['a', 'b']);
  });

  test('yields any value in the position of a block', () => {
    const content = {
      content: [null, 7, 'x', []],
      root: null,
      zones: { z: [null] },
    } as unknown as StepContent;

    expect([...stepBlocks(content)].map(({ path }) => path)).toEqual([
      'content.content[0]',
      'content.content[1]',
      'content.content[2]',
      'content.content[3]',
      'content.zones.z[0]',
    ]);
  });

  test.each([10_000, 1_000_000])('rejects %i levels with an error, not with a stack overflow', (levels) => {
    const content = { content: [block('Text', 'a', { deep: nested(levels) })], root: {} };

    expect(() => [...stepBlocks(content)]).toThrow('The content is nested deeper than 200 levels');
  });

  test('rejects 10,000 nested blocks', () => {
    let inner: Block = block('Callout', 'innermost');
    for (let index = 0; index < 10_000; index += 1) inner = block('Callout', `c${index}`, { body: [inner] });

    expect(() => [...stepBlocks({ content: [inner], root: {} })]).toThrow('nested deeper than 200 levels');
  });

  test('walks a slot of 300,000 blocks', () => {
    const body = Array.from({ length: 300_000 }, (_, index) => block('Text', `t${index}`));

    expect([...stepBlocks({ content: [block('List', 'list', { body })], root: {} })]).toHaveLength(300_001);
  });
});

describe('walking the blocks of a lesson', () => {
  test('returns paths from the top of lesson.json, with the section and the step', () => {
    const lesson = lessonWithContent({ content: [block('Text', 'a')], root: {} });

    expect([...lessonBlocks(lesson)]).toEqual([
      {
        block: block('Text', 'a'),
        path: 'sections[0].steps[0].content.content[0]',
        section: lesson.sections[0],
        step: lesson.sections[0]?.steps[0],
      },
    ]);
  });

  test('returns each widget type once, sorted, and none for a block without a type', () => {
    const lesson = lessonWithContent({
      content: [
        block('Text', 'a'),
        block('Callout', 'b', { body: [block('Quiz', 'c'), block('Text', 'd')] }),
      ],
      root: {},
      zones: { z: [block('Audio', 'e'), block('', 'f'), { props: { id: 'g' } }] },
    });

    expect(usedWidgetTypes(lesson)).toEqual(['Audio', 'Callout', 'Quiz', 'Text']);
  });
});
