import { describe, expect, it } from 'vitest';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, text } from './samples.ts';

const { view, page } = useLessonPage();

const missing = 'This part of the lesson isn’t available.';
const block = (type: string, props: Record<string, unknown> = {}): Block => ({
  type,
  props: { id: 'w1', ...props },
});
const around = (middle: Block) =>
  lessonOf({
    Near: { Mercury: [text('t1', 'Before'), middle, text('t2', 'After')], Venus: [text('t3', 'x')] },
  });

/**
 * Checks that the lesson continues: the blocks around the broken one and the next step are shown.
 */
async function goesOn(): Promise<void> {
  expect(await page.getByText('Before').isVisible()).toBe(true);
  expect(await page.getByText('After').isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Next' }).click();
  expect(await page.locator('h1').textContent()).toBe('Venus');
}

async function firstError(): Promise<Record<string, unknown> | undefined> {
  await page.waitForFunction('events.some(([name]) => name === "onError")');
  return (await view.calls('onError'))[0];
}

describe('a widget', () => {
  it.each([
    ['that is unknown', 'unknown_widget', {}],
    ['whose module is broken', 'widget_not_loaded', { Odd: 'export default (' }],
    ['that has no mount function', 'widget_not_loaded', { Odd: 'export default {}' }],
    ['that throws', 'widget_failed', { Odd: 'export default { mount() { throw new Error("Oh") } }' }],
    ['that throws later', 'widget_failed', { Odd: 'export default { async mount() { throw Error("Oh") } }' }],
  ])('%s shows a notice in its place, and the lesson continues', async (_, code, widgets) => {
    await view.start({ lesson: around(block('Odd')) }, { widgets });
    expect(await firstError()).toMatchObject({ code, stepId: 'mercury', widgetId: 'w1', widgetType: 'Odd' });
    expect(await page.getByText(missing).count()).toBe(1);
    await goesOn();
  });

  it('that arrives late is announced, and shown when it arrives', async () => {
    const Late = `await new Promise((resolve) => { window.arrive = resolve; });
      export default { mount(element) { element.append('Here at last'); return { destroy() {} }; } };`;
    await view.start({ lesson: around(block('Late')), widgetTimeout: 50 }, { widgets: { Late } });
    expect(await firstError()).toMatchObject({ code: 'widget_late', widgetId: 'w1' });
    await page.getByText(missing).waitFor();
    await page.evaluate('arrive()');
    await page.getByText('Here at last').waitFor();
    expect(await page.getByText(missing).count()).toBe(0);
    await goesOn();
  });

  it('or a picture that fails without a connection is loaded again with the next one', async () => {
    const picture = { src: '/media/1619c428-4d84-4e65-8c2b-8847b8aea3b0.png', alt: 'A shore' };
    const blocks = [block('Image', picture), block('Numeric', { id: 'n1', prompt: 'How high?', correct: 1 })];
    await view.start({ lesson: lessonOf({ Near: { Mercury: [text('t1', 'Before')], Venus: blocks } }) });
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => page.locator('.lectern-missing').count()).toBe(2);
    await page.context().setOffline(false);
    await page.getByText('How high?').waitFor();
    await expect.poll(() => page.evaluate('document.images[0].naturalWidth')).toBeGreaterThan(0);
    expect(await page.locator('.lectern-missing').count()).toBe(0);
  });

  it('that is still loading blocks nothing, and is not shown once the learner has left its step', async () => {
    const Late = `await new Promise((resolve) => { window.arrive = resolve; });
      export default { mount() { window.wasMounted = true; return { destroy() {} }; } };`;
    await view.start({ lesson: around(block('Late')) }, { widgets: { Late } });
    await page.waitForFunction('window.arrive');
    expect(await page.getByText('Loading…').isVisible()).toBe(true);
    await goesOn();
    await page.evaluate('arrive(); new Promise((resolve) => setTimeout(resolve))');
    expect(await page.evaluate('window.wasMounted')).toBeUndefined();
  });

  it('that throws in destroy(), or returns nothing, blocks nothing', async () => {
    const widgets = {
      Bad: 'export default { mount: () => ({ destroy() { throw new Error("No") } }) }',
      Nothing: 'export default { mount() {} }',
    };
    await view.start({ lesson: around(block('Bad')) }, { widgets });
    await page.waitForFunction('!document.querySelector("[aria-busy]")');
    await goesOn();
    expect(await firstError()).toMatchObject({ code: 'widget_failed', message: 'No' });
    await view.start({ lesson: around(block('Nothing')) }, { widgets });
    await goesOn();
  });

  it.each([
    ['an answer that is not JSON', 'context.answer(() => 1)', 'Not a JSON value'],
    ['a score above its maximum', 'context.answer(1, { score: 5, maxScore: 1 })', 'A result must be'],
    ['a variable that is not JSON', 'context.setVariable("v", undefined)', 'Not a JSON value'],
  ])('that reports %s gets an error, and nothing is stored', async (_, call, message) => {
    const Odd = `export default { mount(element, { context }) { ${call}; return { destroy() {} }; } };`;
    const lesson = around(block('Odd'));
    lesson.lesson.variable_definitions = [{ name: 'v', type: 'number', initialValue: 1 }];
    await view.start({ lesson }, { widgets: { Odd } });
    const error = await firstError();
    expect(error).toMatchObject({ code: 'invalid_answer', message: expect.stringContaining(message) });
    expect(await page.evaluate('handle.state()')).toMatchObject({ items: [], variableState: { v: 1 } });
  });

  it('in a block without an id is shown, and its answer is not stored', async () => {
    const Odd = 'export default { mount(e, { context }) { context.answer(1); return { destroy() {} }; } };';
    await view.start(
      { lesson: around({ type: 'Odd', props: {} } as unknown as Block) },
      { widgets: { Odd } },
    );
    expect(await firstError()).toMatchObject({ code: 'invalid_answer' });
    await goesOn();
  });

  it('changes only its own copy of the props, and none can replace a core widget', async () => {
    const Vandal =
      'export default { mount(e, { props }) { props.list.length = 0; return { destroy() {} }; } };';
    const widgets = { Vandal, Text: 'export default { mount(e) { e.append("Not the real one"); } };' };
    const lesson = around(block('Vandal', { list: [1] }));
    await page.evaluate(`window.given = ${JSON.stringify(lesson)}`);
    await page.evaluate(
      `start({ lesson: given }, ${JSON.stringify(widgets)}); given.sections[0].steps[0].content.content[1].props`,
    );
    await page.waitForFunction('!document.querySelector("[aria-busy]")');
    expect(await page.evaluate('given.sections[0].steps[0].content.content[1].props.list')).toEqual([1]);
    expect(await page.getByText('Not the real one').count()).toBe(0);
    await goesOn();
  });
});

describe('a lesson', () => {
  it.each([
    ['that is invalid', null],
    ['without steps', { lesson: {}, sections: [] }],
  ])('%s shows an error in its place, in the requested language', async (_, lesson) => {
    await view.start({ lesson, language: 'fr' });
    expect(await firstError()).toMatchObject({ code: 'invalid_lesson' });
    expect(await page.getByText('Cette leçon n’est pas disponible.').isVisible()).toBe(true);
    expect(await page.evaluate('[handle.state() ?? null, handle.next(), handle.goTo("a")]')).toEqual([
      null,
      false,
      false,
    ]);
  });

  it("nested to JSON's depth limit plays; a deeper one is rejected", async () => {
    const nest = (levels: number): Block =>
      levels === 0
        ? text('t', 'At the bottom')
        : { type: 'Callout', props: { id: `c${levels}`, body: [nest(levels - 1)] } };
    await view.start({ lesson: lessonOf({ Near: { Mercury: [nest(60)] } }) });
    expect(await page.getByText('At the bottom').count()).toBe(1);
    await view.start({ lesson: lessonOf({ Near: { Mercury: [nest(200)] } }) });
    expect(await firstError()).toMatchObject({ code: 'invalid_lesson' });
  });
});
