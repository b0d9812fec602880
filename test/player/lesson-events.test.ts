import { describe, expect, it } from 'vitest';
import { useLessonPage } from './player-lab.ts';
import { lessonId, threeSteps } from './samples.ts';

const { view, page } = useLessonPage();

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
const versionId = '22222222-2222-4222-8222-222222222222';

async function playThrough(): Promise<void> {
  const click = (name: string) => page.getByRole('button', { name }).click();
  await click('Next');
  await page.getByText('460').click();
  await click('Check answer');
  await click('Next');
  await page.getByRole('textbox').fill('Methane.');
  await click('Submit');
  await click('Finish');
}

function lessonWithVariable() {
  const lesson = threeSteps();
  const question = lesson.sections[0]?.steps[1]?.content.content[0];
  if (question) question.props.variable = 'heat';
  lesson.lesson.variable_definitions = [{ name: 'heat', type: 'string', initialValue: null }];
  return lesson;
}

describe('callbacks', () => {
  it('report each step, answer and variable, and the end, in order, with only the position and the action', async () => {
    await view.start({ lesson: lessonWithVariable(), versionId });
    const common = { lessonId, versionId, sectionIndex: 0, totalSteps: 3, maxScore: 1, at: time };
    const started = { completed: false, atEnd: false, tries: [] };
    expect((await view.calls('onReady'))[0]).toEqual({
      ...common,
      stepIndex: 0,
      stepId: 'mercury',
      score: null,
      items: [],
      progressData: { visited: ['mercury'], ...started },
      variableState: { heat: null },
    });
    await playThrough();
    const names = (await view.calls()).map(([name]) => name.slice(2));
    const [visit, answer] = ['StepChange', 'Answer'];
    expect(names).toEqual(['Ready', visit, 'VariableChange', answer, visit, answer, visit, 'Complete']);
    const choice = { widgetId: 'q1', widgetType: 'MultipleChoice', stepId: 'venus', answeredAt: time };
    const heat = { ...choice, answer: ['a'], score: 1, maxScore: 1 };
    const open = { widgetId: 'o1', widgetType: 'OpenResponse', stepId: 'neptune', answeredAt: time };
    const blue = { ...open, answer: 'Methane.', score: null, maxScore: null };
    const atVenus = {
      ...common,
      stepIndex: 1,
      stepId: 'venus',
      score: 1,
      items: [heat],
      progressData: { visited: ['mercury', 'venus'], ...started },
      variableState: { heat: ['a'] },
    };
    expect((await view.calls('onVariableChange'))[0]).toEqual({ ...atVenus, name: 'heat', value: ['a'] });
    expect((await view.calls('onAnswer'))[0]).toEqual({ ...atVenus, item: heat });
    expect((await view.calls('onComplete'))[0]).toEqual({
      ...atVenus,
      sectionIndex: 1,
      stepIndex: 0,
      stepId: 'neptune',
      items: [heat, blue],
      progressData: { visited: ['mercury', 'venus', 'neptune'], completed: true, atEnd: true, tries: [] },
    });
  });

  it('completion is reported once, however often the learner reaches the end', async () => {
    await view.start({ lesson: threeSteps(), startAt: 'neptune' });
    await page.getByRole('button', { name: 'Finish' }).click();
    for (const name of ['Finish', 'Back to the lesson', 'Finish']) {
      await page.getByRole('button', { name }).last().click();
    }
    expect(await view.calls('onComplete')).toHaveLength(1);
    const state = await page.evaluate('handle.state()');
    await view.start({ lesson: threeSteps(), state });
    await page.getByRole('button', { name: 'Back to the lesson' }).click();
    await page.getByRole('button', { name: 'Finish' }).click();
    expect(await view.calls('onComplete')).toHaveLength(0);
  });

  it('callbacks that throw break nothing, and their errors are reported', async () => {
    const throwing = ['onReady', 'onStepChange', 'onAnswer', 'onVariableChange', 'onComplete'];
    await view.start({ lesson: lessonWithVariable() }, { throwing });
    await playThrough();
    expect(await page.locator('h1').textContent()).toBe('Lesson complete');
    expect(await view.calls('onComplete')).toHaveLength(1);
    expect(new Set(view.errors.splice(0))).toEqual(
      new Set(throwing.map((name) => `${name} of the page is broken`)),
    );
  });

  it('an answer that a widget reports in destroy() belongs to its step, even if the callback navigates or destroys the player', async () => {
    const Slow = `export default { mount: (element, { context }) => ({ destroy: () => context.answer(1) }) };`;
    const lesson = threeSteps();
    lesson.sections[0]?.steps[0]?.content.content.push({ type: 'Slow', props: { id: 's1' } });
    for (const [call, left, steps] of [
      ['handle.goTo("neptune")', 1, 1],
      ['handle.destroy()', 0, 0],
    ]) {
      await view.start({ lesson }, { widgets: { Slow } });
      await page.waitForFunction('!document.querySelector("[aria-busy]")');
      await page.evaluate(`events.push = (...all) => {
        Array.prototype.push.apply(events, all);
        if (all[0][0] === 'onAnswer') ${call};
      }`);
      await page.evaluate('handle.next()');
      expect(await page.locator('.lectern-step-body').count()).toBe(left);
      expect(await view.calls('onStepChange')).toHaveLength(Number(steps));
      const [answer] = await view.calls('onAnswer');
      expect(answer).toMatchObject({ stepId: 'mercury', item: { answer: 1 } });
    }
  });

  it('changes that a callback makes to its event have no effect elsewhere', async () => {
    await view.start({ lesson: threeSteps() });
    await page.evaluate('const s = handle.state(); s.items.push(1); s.progressData.visited.length = 0;');
    expect(await page.evaluate('handle.state().progressData.visited')).toEqual(['mercury']);
  });

  it('destroy leaves nothing on the page, and no callback runs afterwards', async () => {
    await view.start({ lesson: threeSteps(), startAt: 'venus' });
    await page.getByText('460').click();
    const left = await page.evaluate(`(() => {
      const button = [...document.querySelectorAll('button')].find((b) => b.textContent === 'Check answer');
      handle.destroy();
      handle.destroy();
      const calls = events.length;
      button.click();
      document.dispatchEvent(new Event('visibilitychange'));
      return [document.getElementById('lesson').childNodes.length, handle.goTo('mercury'), events.length - calls];
    })()`);
    expect(left).toEqual([0, false, 0]);
  });
});
