import { describe, expect, it } from 'vitest';
import { useLessonPage } from './player-lab.ts';
import { lessonOf, text, threeSteps } from './samples.ts';

const { view, page } = useLessonPage();

const blocks = () => page.locator('.lectern-step-body').innerText();
const variable = (name: string, initialValue: unknown) => ({ name, type: 'string', initialValue });

/** A field that sets the variable `v` on input and reports an answer on blur. */
const Field = `export default {
  type: 'Field',
  mount(element, { props, state, context }) {
    const field = document.createElement('input');
    field.setAttribute('aria-label', props.label);
    field.value = state ?? '';
    field.addEventListener('input', () => context.setVariable('v', field.value));
    field.addEventListener('change', () => context.answer(field.value));
    element.append(field);
    return { destroy: () => field.remove() };
  },
};`;
const field = { type: 'Field', props: { id: 'f1', label: 'Say {{v}}', variable: 'said' } };

describe('resuming', () => {
  it('continues on another page at the same step with the same answers and variables', async () => {
    const lesson = threeSteps();
    lesson.lesson.variable_definitions = [variable('v', 'new')];
    lesson.sections[0]?.steps[1]?.content.content.push(text('t9', '<p>v is {{v}}</p>'), field);
    await view.start({ lesson, startAt: 'venus' }, { widgets: { Field } });
    await page.getByText('460').click();
    await page.getByRole('button', { name: 'Check answer' }).click();
    await page.getByRole('textbox').fill('kept');
    await page.getByRole('textbox').blur();
    const state = await page.evaluate<Record<string, unknown>>('handle.state()');

    await page.reload();
    await page.waitForFunction('window.ready');
    await view.start({ lesson, state: JSON.parse(JSON.stringify(state)) }, { widgets: { Field } });
    await page.getByRole('textbox').waitFor();
    expect(await page.evaluate('handle.state()')).toEqual(state);
    expect(await page.locator('h1').textContent()).toBe('Venus');
    expect(await page.getByRole('radio', { name: '460' }).isChecked()).toBe(true);
    expect(await page.getByRole('textbox').inputValue()).toBe('kept');
    expect(await blocks()).toContain('v is kept');
    expect(await view.calls('onAnswer')).toEqual([]);
  });

  it('input in progress is reported before the step changes and when the page is hidden', async () => {
    const lesson = lessonOf({ Near: { Mercury: [field], Venus: [text('t1', 'x')] } });
    await view.start({ lesson }, { widgets: { Field } });
    await page.getByRole('textbox').fill('half');
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    expect(await view.calls('onAnswer')).toHaveLength(1);
    await page.getByRole('textbox').fill('whole');
    await page.evaluate('handle.next()');
    expect((await view.calls()).slice(-3).map(([name]) => name)).toEqual([
      'onVariableChange',
      'onAnswer',
      'onStepChange',
    ]);
    const [, last] = await view.calls('onAnswer');
    expect(last).toMatchObject({ stepId: 'mercury', item: { stepId: 'mercury', answer: 'whole' } });
  });

  it('unsubmitted text in an open question becomes one answer when the page is hidden or the step changes', async () => {
    await view.start({ lesson: threeSteps(), startAt: 'neptune' });
    await page.getByRole('textbox').fill(' Methane. ');
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    const answered = { widgetId: 'o1', stepId: 'neptune', answer: 'Methane.' };
    expect(await view.calls('onAnswer')).toMatchObject([{ stepId: 'neptune', item: answered }]);
    await page.evaluate(`dispatchEvent(new Event('pagehide'))`);
    await page.evaluate('[handle.back(), handle.next()]');
    expect(await view.calls('onAnswer')).toHaveLength(1);
    expect(await page.getByRole('textbox').inputValue()).toBe('Methane.');
    await page.getByRole('textbox').fill('Methane gas.');
    await page.evaluate('handle.back()');
    expect((await view.calls('onAnswer'))[1]).toMatchObject({
      stepId: 'neptune',
      item: { ...answered, answer: 'Methane gas.' },
    });
  });
});

describe('variables', () => {
  const lesson = lessonOf(
    {
      Near: {
        Mercury: [
          { type: 'Heading', props: { id: 'h1', text: 'Hello {{v}}' } },
          text('t1', '<p>You are <b>{{v}}</b>.</p>'),
          field,
          text('t2', '<p>Shown for Ada</p>', { visibleIf: { variable: 'v', op: 'eq', value: 'Ada' } }),
          {
            type: 'Callout',
            props: { id: 'c1', title: '{{v}}', body: [text('t3', '<p>Inside: {{said}}</p>')] },
          },
        ],
      },
    },
    { variable_definitions: [variable('v', 'unknown'), variable('said', null)] },
  );

  it('texts and conditions follow variables at once; values are escaped in HTML and unchanged in plain text', async () => {
    await view.start({ lesson }, { widgets: { Field } });
    expect(await blocks()).toContain('You are unknown.');
    await page.getByRole('textbox').fill('<i>Bo</i> & co');
    expect(await page.locator('h2').first().textContent()).toBe('Hello <i>Bo</i> & co');
    expect(await page.locator('.lectern-text b').textContent()).toBe('<i>Bo</i> & co');
    expect(await page.locator('.lectern-step-body i').count()).toBe(0);
    expect(await page.locator('.lectern-note-title').textContent()).toBe('<i>Bo</i> & co');
    const shown = page.getByText('Shown for Ada');
    for (const [value, count] of [
      ['Eve', 0],
      ['Ada', 1],
      ['Eve', 0],
    ] as const) {
      await page.getByRole('textbox').fill(value);
      expect(await shown.count()).toBe(count);
    }
  });

  it('an answer is stored in the variable named by the block', async () => {
    await view.start({ lesson }, { widgets: { Field } });
    await page.getByRole('textbox').fill('aloud');
    await page.getByRole('textbox').blur();
    expect(await blocks()).toContain('Inside: aloud');
    expect(await page.evaluate('handle.state().variableState')).toEqual({ v: 'aloud', said: 'aloud' });
  });

  it('a field keeps its text and the focus during input, and follows variables once it is answered', async () => {
    await view.start({ lesson }, { widgets: { Field } });
    await page.getByRole('textbox').pressSequentially('Bo');
    expect(await page.getByRole('textbox', { name: 'Say unknown' }).inputValue()).toBe('Bo');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('textbox', { name: 'Say Bo' }).inputValue()).toBe('Bo');
    expect(await page.evaluate('document.activeElement.localName')).toBe('input');
  });

  it('a widget cannot set undefined variables', async () => {
    const Loud = `export default { type: 'Loud', mount(element, { context }) {
      context.setVariable('other', 1); return { destroy() {} }; } };`;
    await view.start(
      { lesson: lessonOf({ Near: { Mercury: [{ type: 'Loud', props: { id: 'l1' } }] } }) },
      { widgets: { Loud } },
    );
    await page.waitForFunction('!document.querySelector("[aria-busy]")');
    expect(await page.evaluate('handle.state().variableState')).toEqual({});
  });
});

describe('settings of the lesson', () => {
  it('overrides are defaults for the props of each block of the type', async () => {
    const lesson = lessonOf(
      {
        Near: {
          Mercury: [
            { type: 'Heading', props: { id: 'h1', text: 'One' } },
            { type: 'Heading', props: { id: 'h2', text: 'Two', level: 4 } },
          ],
        },
      },
      { widget_settings: { overrides: { Heading: { level: 3, text: 'None' } } } },
    );
    await view.start({ lesson });
    expect(await page.locator('h3').textContent()).toBe('One');
    expect(await page.locator('h4').textContent()).toBe('Two');
  });

  it('blocks of older zones follow the block that they belong to, and are hidden with it', async () => {
    const lesson = lessonOf(
      {
        Near: {
          Mercury: [text('a', 'First', { visibleIf: { variable: 'v', op: 'ne', value: 'Ada' } }), field],
        },
      },
      { variable_definitions: [variable('v', '')] },
    );
    const step = lesson.sections[0]?.steps[0];
    if (step) step.content.zones = { 'a:below': [text('z', 'Second')], 'root:end': [text('y', 'Last')] };
    await view.start({ lesson }, { widgets: { Field } });
    expect((await blocks()).split(/\s+/).filter(Boolean)).toEqual(['First', 'Second', 'Last']);
    await page.getByRole('textbox').fill('Ada');
    expect((await blocks()).split(/\s+/).filter(Boolean)).toEqual(['Last']);
  });
});
