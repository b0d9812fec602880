import { describe, expect, it } from 'vitest';
import { useLessonLab } from './lesson-page.ts';
import { lessonOf, text } from './lesson-samples.ts';
import { question } from './samples.ts';

const lab = useLessonLab();

const lesson = lessonOf(
  { Near: { Mercury: [text('t1', 'Closest.')], Venus: [question] } },
  { widget_settings: { overrides: { MultipleChoice: { attempts: 2 } } } },
);

describe('a limit of attempts for the whole lesson', () => {
  it('counts the attempts of earlier visits, and starts over with the lesson', async () => {
    const first = await lab.open();
    await first.start({ lesson, startAt: 'venus' });
    const { page } = first;
    expect(await page.getByText('2 tries left').isVisible()).toBe(true);
    await page.getByRole('radio', { name: 'The Sun' }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('radio', { name: 'The Moon' }).check();
    await page.getByRole('button', { name: 'Check answer' }).click();
    const state = (await first.calls('onAnswer')).at(-1);
    expect((await first.calls('onAnswer')).length).toBe(2);
    await page.context().close();

    const second = await lab.open();
    await second.start({ lesson, state });
    expect(await second.page.getByText('Correct answer').isVisible()).toBe(true);
    expect(await second.page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await second.page.getByRole('button', { name: 'Finish' }).click();
    await second.page.getByRole('button', { name: 'Start again' }).click();
    await second.page.getByRole('dialog').getByRole('button', { name: 'Start again' }).click();
    await second.page.getByRole('button', { name: 'Next' }).click();
    expect(await second.page.getByText('2 tries left').isVisible()).toBe(true);
    expect(second.errors).toEqual([]);
    await second.page.context().close();
  });
});
