import { describe, expect, it } from 'vitest';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, question, text, threeSteps } from './samples.ts';

const { view, page, heading, focused, click } = useLessonPage({ viewport: { width: 700, height: 500 } });

/** Presses Tab until a control with this name has the focus. */
async function tabTo(name: RegExp): Promise<void> {
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press('Tab');
    const label = await page.evaluate<string>(
      '(document.activeElement.closest("label, button") ?? document.activeElement).textContent',
    );
    if (name.test(label)) return;
  }
  throw new Error(`No control called ${name.source} is reached by keyboard`);
}

describe('steps', () => {
  it('opening a lesson does not move the focus or the scroll position', async () => {
    await page.evaluate('document.getElementById("lesson").style.paddingTop = "2000px"');
    await view.start({ lesson: threeSteps() });
    expect(await page.evaluate('[document.activeElement === document.body, scrollY]')).toEqual([true, 0]);
    await page.evaluate('document.getElementById("lesson").style.paddingTop = ""');
  });

  it('next and back go through all sections; the last step has Finish, the first no Back', async () => {
    await view.start({ lesson: threeSteps() });
    expect(await page.getByRole('button', { name: 'Back' }).isVisible()).toBe(false);
    await click('Next');
    expect(await heading()).toBe('Venus');
    await click('Next');
    expect(await heading()).toBe('Neptune');
    expect(await page.getByRole('button', { name: 'Next' }).count()).toBe(0);
    await click('Back');
    expect(await heading()).toBe('Venus');
    await click('Next');
    await click('Finish');
    await confirmFinish();
    expect(await heading()).toBe('Lesson complete');
  });

  it("a step's first picture loads eagerly, others lazily", async () => {
    const src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
    const picture = (id: string) => ({ type: 'Image', props: { id, src, alt: id } });
    const blocks = [text('t1', '<p>A line.</p>'), picture('first'), picture('second')];
    await view.start({ lesson: lessonOf({ Near: { Mercury: blocks } }) });
    const loading = '[...document.images].map(({ alt, loading }) => `${alt}: ${loading}`)';
    expect(await page.evaluate(loading)).toEqual(['first: eager', 'second: lazy']);
  });

  it('a step change moves the focus to the heading, announces the position, and scrolls to the top of the step', async () => {
    const long = Array.from({ length: 40 }, (_, index) => text(`t${index}`, '<p>A line.</p>'));
    await view.start({ lesson: lessonOf({ Near: { Mercury: long, Venus: long }, Far: { Neptune: long } }) });
    await page.getByRole('button', { name: 'Next' }).scrollIntoViewIfNeeded();
    await click('Next');
    expect(await focused()).toBe('Venus');
    expect(await page.getByRole('status').textContent()).toBe('Step 2 of 3');
    expect(await page.evaluate('document.querySelector("h1").getBoundingClientRect().top')).toBeGreaterThan(
      0,
    );
    expect(await page.evaluate('scrollY')).toBeLessThan(50);
    // Another section is named, too.
    await click('Next');
    expect(await page.getByRole('status').textContent()).toBe('Far. Step 3 of 3');
  });

  it('a step change scrolls to the top of the step, also inside a scrolling container', async () => {
    const lesson = threeSteps();
    lesson.sections[0]?.steps[0]?.content.content.push(text('t9', '<p>Line</p>'.repeat(50)));
    await view.start({ lesson });
    const scrolled = await page.evaluate<number>(`(() => {
      const box = document.getElementById('lesson');
      box.style.cssText = 'margin-top: 300px; height: 200px; overflow: auto';
      box.scrollTop = 250;
      handle.next();
      const scrolled = box.scrollTop;
      box.style.cssText = '';
      return scrolled;
    })()`);
    expect(scrolled).toBe(0);
  });

  it('a lesson can be played from the first step to the end by keyboard alone', async () => {
    await view.start({ lesson: threeSteps() });
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('Mercury');
    await tabTo(/Next/);
    await page.keyboard.press('Enter');
    await tabTo(/460/);
    await page.keyboard.press('Space');
    await tabTo(/Check answer/);
    await page.keyboard.press('Enter');
    await tabTo(/Next/);
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('Neptune');
    await tabTo(/^$/); // The field has no text yet.
    await page.keyboard.type('Methane.');
    await tabTo(/Submit/);
    await page.keyboard.press('Enter');
    await tabTo(/Finish/);
    await page.keyboard.press('Space');
    expect(await focused()).toBe('Lesson complete');
    const [done] = await view.calls('onComplete');
    expect(done).toMatchObject({ score: 1, maxScore: 1 });
  });

  it('a deep link opens its step, and the page can navigate the player', async () => {
    await view.start({ lesson: threeSteps(), startAt: 'neptune' });
    expect(await heading()).toBe('Neptune');
    expect(await page.evaluate('[handle.goTo("gone"), handle.next(), handle.next()]')).toEqual([
      false,
      true,
      false,
    ]);
    expect(await page.evaluate('[handle.goTo("mercury"), handle.back()]')).toEqual([true, false]);
    expect(await heading()).toBe('Mercury');
  });

  it.each([
    ['a block', 'far', 'far'],
    ['a block in a closed panel, which opens', 'inner', 'inner'],
    ['what holds a block in another tab', 'hidden', 'tabs'],
  ])('a deep link to a block outlines %s, in view', async (_what, startAtBlock, outlined) => {
    const panels = [{ title: 'Closed', body: [text('inner', '<p>Inner</p>')] }];
    const tabs = [{ title: 'First' }, { title: 'Second', body: [text('hidden', '<p>Hidden</p>')] }];
    const blocks = [
      ...Array.from({ length: 40 }, (_, index) => text(`t${index}`, '<p>Filler</p>')),
      ...[text('far', '<p>Far</p>'), { type: 'Accordion', props: { id: 'panels', panels } }],
      { type: 'Tabs', props: { id: 'tabs', tabs } },
    ];
    const lesson = lessonOf({ Near: { Mercury: [text('m', '<p>First</p>')], Venus: blocks } });
    await view.start({ lesson, startAt: 'venus', startAtBlock });
    const block = page.locator(`[data-lectern-block=${outlined}]`);
    await expect.poll(() => block.getAttribute('class')).toContain('lectern-is-marked');
    await expect.poll(async () => (await block.boundingBox())?.y).toBeLessThan(720);
    expect((await block.boundingBox())?.height).toBeGreaterThan(0);
    await click('Back');
    await click('Next');
    expect(await page.locator('.lectern-is-marked').count()).toBe(0);
  });
});

const end = () => page.locator('.lectern-end');

async function answerAndFinish(): Promise<void> {
  await view.start({ lesson: threeSteps(), startAt: 'venus' });
  await page.getByText('460').click();
  await click('Check answer');
  await click('Next');
  await click('Finish');
  await confirmFinish();
}

/** Finishes although questions are unanswered. */
const confirmFinish = () => page.getByRole('dialog').getByRole('button', { name: 'Finish' }).click();

describe('the end of a lesson', () => {
  it('shows the score and each question with its result, with links back', async () => {
    await answerAndFinish();
    expect(await end().innerText()).toContain('Score: 1 of 1');
    expect(await end().innerText()).toContain('You’ve answered 1 of 2 questions.');
    // An open question is never right or wrong.
    expect(await end().getByRole('heading').allInnerTexts()).toContainEqual(
      expect.stringContaining('1 of 1 correct'),
    );
    expect(await end().locator('.lectern-ring').textContent()).toBe('100%');
    expect(await end().getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^How hot is Venus\?\s+Venus\s+Correct\s+1 of 1 point$/),
      expect.stringMatching(/^Why is it blue\?\s+Neptune\s+Not answered$/),
    ]);
    await end().getByRole('button', { name: 'Why is it blue?' }).click();
    expect(await heading()).toBe('Neptune');
  });

  it('comes after a question, if some are unanswered: each is named and a click away', async () => {
    await view.start({ lesson: threeSteps(), startAt: 'neptune' });
    await page.getByRole('textbox').fill('Typed, but not submitted, counts.');
    await click('Finish');
    const dialog = page.getByRole('dialog', { name: 'Finish the lesson?' });
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['How hot is Venus? Venus']);
    // The button that changes nothing stands out.
    const isQuiet = async (name: string) =>
      (await dialog.getByRole('button', { name, exact: true }).getAttribute('class'))?.includes('quiet');
    expect([await isQuiet('Keep working'), await isQuiet('Finish')]).toEqual([false, true]);
    await dialog.getByRole('button', { name: 'How hot is Venus?' }).click();
    expect([await heading(), await dialog.count()]).toEqual(['Venus', 0]);
    expect(await page.evaluate('document.activeElement.dataset.lecternBlock')).toBe('q1');
    expect(await view.calls('onComplete')).toEqual([]);
  });

  it('names questions by their texts: shortened, filled in, with gaps, or by their numbers', async () => {
    const blanks = {
      type: 'FillInTheBlanks',
      props: { id: 'b1', text: '<p>Mars is</p><p>[[b]].</p>', blanks: [{ id: 'b', answers: ['red'] }] },
    };
    const prompts = ['<p>Hello, {{name}}?</p>', `<p>${'word '.repeat(14)}end. ${'word '.repeat(20)}</p>`, ''];
    const blocks = prompts.map((prompt, index) => ({
      type: 'MultipleChoice',
      props: { ...question.props, id: `n${index}`, prompt },
    }));
    const variable_definitions = [{ name: 'name', type: 'string', initialValue: 'Ada & Co' }];
    await view.start({
      lesson: lessonOf({ Near: { Mercury: [...blocks, blanks] } }, { variable_definitions }),
    });
    await click('Finish');
    const names = await page.getByRole('dialog').getByRole('listitem').allTextContents();
    expect(names).toEqual([
      'Hello, Ada & Co? Mercury',
      `${'word '.repeat(14)}end… Mercury`,
      'Question 3 Mercury',
      'Mars is ___ Mercury',
    ]);
  });

  it('says which grade the course gets, before it gets it, and leads back to the course', async () => {
    await view.start(
      { lesson: threeSteps(), startAt: 'venus', sendsGrade: true },
      { callbacks: ['onLeave'] },
    );
    await page.getByText('460').click();
    await click('Check answer');
    await click('Next');
    await click('Finish');
    await page.getByText('Your course gets this result: 100%.').waitFor();
    await confirmFinish();
    await click('Back to the course');
    expect(await view.calls('onLeave')).toHaveLength(1);
  });

  it('leads through the mistakes, and back to the results', async () => {
    const asked = (id: string) => ({ type: 'MultipleChoice', props: { ...question.props, id } });
    await view.start({
      lesson: lessonOf({
        Near: {
          Mercury: [asked('q1'), asked('q2'), asked('q4')],
          Venus: [text('t1', 'x')],
          Mars: [asked('q3')],
        },
      }),
    });
    const answer = async (index: number, name: string) => {
      await page.getByRole('radiogroup').nth(index).getByRole('radio', { name }).check();
      await page
        .locator('.lectern-question')
        .nth(index)
        .getByRole('button', { name: 'Check answer' })
        .click();
    };
    await answer(0, 'Mars');
    await answer(1, 'The Sun');
    await answer(2, 'The Moon');
    await page.evaluate('handle.goTo("mars")');
    await answer(0, 'The Sun');
    await click('Finish');
    const asksNow = () => page.evaluate('document.activeElement.dataset.lecternBlock');
    await click('Review my mistakes');
    expect([await heading(), await asksNow()]).toEqual(['Mercury', 'q2']);
    await click('Next mistake');
    expect([await heading(), await asksNow()]).toEqual(['Mercury', 'q4']);
    await click('Next mistake');
    expect([await heading(), await asksNow()]).toEqual(['Mars', 'q3']);
    await click('Back to the results');
    expect(await heading()).toBe('Lesson complete');
    const points = await page.locator('.lectern-result-text > :last-child').allTextContents();
    expect(points).toEqual(['3 of 3 points', '0 of 3 points', '0 of 3 points', '0 of 3 points']);
    // A corrected mistake is none, and the text of the button follows at once.
    await click('Review my mistakes');
    await click('Next mistake');
    await page.locator('.lectern-question').nth(2).getByRole('button', { name: 'Try again' }).click();
    await answer(2, 'Mars');
    await click('Next mistake');
    await page.locator('.lectern-question').getByRole('button', { name: 'Try again' }).click();
    await answer(0, 'Mars');
    await click('Back to the results');
  });
});

describe('starting again', () => {
  it('needs confirmation, and keeps everything without it', async () => {
    await answerAndFinish();
    const state = await page.evaluate('handle.state()');
    await end().getByRole('button', { name: 'Start again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Start again?' });
    expect(await dialog.textContent()).toContain('This clears your answers in this lesson.');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await dialog.isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Start again');
    expect(await page.evaluate('handle.state()')).toEqual(state);
  });

  it('clears answers, seen steps and variables, and begins at the first step', async () => {
    await answerAndFinish();
    await end().getByRole('button', { name: 'Start again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start again' }).click();
    expect(await heading()).toBe('Mercury');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Mercury');
    const fresh = {
      stepId: 'mercury',
      items: [],
      score: null,
      progressData: { visited: ['mercury'], completed: false, atEnd: false, tries: [] },
    };
    expect((await view.calls()).slice(-2)).toMatchObject([
      ['onRestart', fresh],
      ['onStepChange', fresh],
    ]);
    await page.evaluate('handle.goTo("venus")');
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    await page.evaluate('handle.next()');
    await page.evaluate('handle.next()');
    expect(await view.calls('onComplete')).toHaveLength(2);
  });
});

it('a limit of attempts for the whole lesson counts those of earlier visits, and starts over with the lesson', async () => {
  const lesson = lessonOf(
    { Near: { Mercury: [text('t1', 'Closest.')], Venus: [question] } },
    { widget_settings: { overrides: { MultipleChoice: { attempts: 2 } } } },
  );
  await view.start({ lesson, startAt: 'venus' });
  expect(await page.getByText('2 tries left').isVisible()).toBe(true);
  await page.getByRole('radio', { name: 'The Sun' }).check();
  await click('Check answer');
  await click('Try again');
  await page.getByRole('radio', { name: 'The Moon' }).check();
  await click('Check answer');
  const [, state] = await view.calls('onAnswer');

  await view.start({ lesson, state });
  expect(await page.getByText('Correct answer').isVisible()).toBe(true);
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  await click('Finish');
  await click('Start again');
  await page.getByRole('dialog').getByRole('button', { name: 'Start again' }).click();
  await click('Next');
  expect(await page.getByText('2 tries left').isVisible()).toBe(true);
});
