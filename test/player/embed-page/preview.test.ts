import { describe, expect, test } from 'vitest';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import { preparePreview } from '../../../shared/publishing/publishing.ts';
import { buildPreviewToken } from '../../support/factories.ts';
import { answersIn, choose, press, seeChosen, seeStep, useEmbedLab } from './embed-lab.ts';

const lab = useEmbedLab();

const words = {
  en: 'Preview: we don’t record your answers.',
  fr: 'Aperçu\u00a0: nous n’enregistrons pas vos réponses.',
  ar: 'معاينة: لا نسجّل إجاباتك.',
};

/** Creates a draft in a language, ready for a preview. */
async function buildDraft(language: string) {
  const draft = await publishLesson(lab.harness, lab.organization, {
    publish: false,
    lesson: { language },
    sections: [section('one', step('s1', question('q1')), { ...step('s2', heading()), order_index: 1 })],
  });
  return preparePreview(lab.harness.db, lab.harness.store, draft._id);
}

describe('a preview of a draft in a browser', () => {
  test('plays to its end under a preview notice, and sends and stores nothing', async () => {
    const draft = await buildDraft('en');
    const context = await lab.browser.newContext();
    const page = await context.newPage();
    const writes: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') writes.push(request.url());
    });
    const open = () => page.goto(`${lab.address}/embed/${draft.lessonId}?token=${buildPreviewToken(draft)}`);
    await open();
    const shown = { lesson: page.frameLocator('iframe') };
    await page.getByText(words.en, { exact: true }).waitFor();
    await seeStep(shown, 's1');
    await choose(shown, 'b');
    await seeChosen(shown, 'b');
    await press(shown, 'Next');
    await seeStep(shown, 's2');
    expect(writes).toEqual([]);
    expect(await page.evaluate<string>('JSON.stringify(localStorage)')).not.toContain('q1');
    expect(answersIn(await lab.progressOf(draft, 'learner-1'))).toEqual({});

    await open();
    await seeStep(shown, 's1');
    await context.close();
  });

  test.each(Object.entries(words))(
    'shows the notice in the language of the lesson: %s',
    async (language, text) => {
      const draft = await buildDraft(language);
      const context = await lab.browser.newContext({ viewport: { width: 320, height: 600 } });
      const page = await context.newPage();
      await page.goto(`${lab.address}/embed/${draft.lessonId}?token=${buildPreviewToken(draft)}`);
      const line = page.locator('.lectern-embed-remark');
      await line.waitFor();
      // French puts a no-break space before the colon.
      expect((await line.innerText()).replace(' ', ' ')).toBe(text);
      await context.close();
    },
  );
});
