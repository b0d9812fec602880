import { recordOf } from '../../../lessons/json-values.ts';
import type { ConvertedBlock } from '../../converted-lesson.ts';
import { escapeHtml, openResponse } from '../../questions/question-blocks.ts';
import { recordsOf } from '../contents.ts';
import type { ContentType, H5pContent } from '../contents.ts';
import { hasRangeFeedback, questionBlocks } from '../question.ts';
import { htmlOf, plainOf } from '../texts.ts';

/* Contents without points in Lectern: cards, panels and free answers. */

const dialogcards: ContentType = {
  element: 'H5P.Dialogcards',
  result: 'converted',
  becomes: '`Flashcards`, after the title and the description',
  convert(content) {
    const { title, description, dialogs } = content.params;
    const cards = recordsOf(dialogs).map((card) => cardOf(content, card));
    if (cards.length === 0) return null;
    const intro = [title, description].filter((text) => plainOf(text) !== '');
    return [
      ...intro.map((html): ConvertedBlock => ({ type: 'Text', props: { html: htmlOf(html) } })),
      {
        type: 'Flashcards',
        props: { cards, ...(content.setting('randomCards') === true && { shuffle: true }) },
      },
    ];
  },
};

/** Returns a card. The picture is on both sides, the sound on the front. */
function cardOf(content: H5pContent, card: Record<string, unknown>): object {
  const picture = content.file(card.image, 'image');
  const alt = escapeHtml(plainOf(card.imageAltText)).replaceAll('"', '&quot;');
  const image = picture === null ? '' : `<p><img src="${picture}" alt="${alt}"></p>`;
  const [sound = null] = recordsOf(card.audio).flatMap((file) => content.file(file, 'audio') ?? []);
  const audio = sound === null ? '' : `<p><audio controls src="${sound}"></audio></p>`;
  const { front, back } = recordOf(card.tips);
  const hints = Object.entries({ hint: htmlOf(front), backHint: htmlOf(back) });
  return {
    front: `${image}${htmlOf(card.text)}${audio}`,
    back: `${image}${htmlOf(card.answer)}`,
    ...Object.fromEntries(hints.filter(([, hint]) => hint !== '')),
  };
}

const accordion: ContentType = {
  element: 'H5P.Accordion',
  result: 'converted',
  becomes: '`Accordion`',
  convert(content) {
    const { panels, hTag } = content.params;
    const shown = recordsOf(panels)
      .map((panel) => ({ title: plainOf(panel.title), body: content.child(panel.content) }))
      .filter(({ title, body }) => title !== '' || body.length > 0);
    const level = /^h([2-6])$/.exec(htmlOf(hTag))?.[1];
    const props = { panels: shown, ...(level !== undefined && level !== '2' && { level: Number(level) }) };
    return shown.length === 0 ? null : [{ type: 'Accordion', props }];
  },
};

const essay: ContentType = {
  element: 'H5P.Essay',
  result: 'partial',
  becomes: '`OpenResponse`, with the keywords where there is no sample solution; it is not scored',
  convert(content) {
    const { taskDescription, solution, keywords } = content.params;
    const { introduction, sample } = recordOf(solution);
    const words = recordsOf(keywords)
      .map(({ keyword }) => plainOf(keyword).replaceAll('*', ''))
      .filter((word) => word !== '');
    const sampleAnswer = [introduction, sample].map(htmlOf).filter((html) => html !== '');
    if (sampleAnswer.length === 0 && words.length > 0) {
      sampleAnswer.push(`<ul>${words.map((word) => `<li>${escapeHtml(word)}</li>`).join('')}</ul>`);
    }
    content.lose(
      'answers earn no points for keywords',
      words.length > 0 && content.setting('ignoreScoring') !== true,
    );
    const hasFeedback = recordsOf(keywords).some(({ options, ...old }) => {
      const { feedbackIncluded, feedbackMissed } = { ...old, ...recordOf(options) };
      return htmlOf(feedbackIncluded) !== '' || htmlOf(feedbackMissed) !== '';
    });
    content.lose('feedback', hasFeedback || hasRangeFeedback(content));
    const limits = ['minimumLength', 'maximumLength'].map((name) => content.setting(name));
    content.lose('limits of the length', limits.some(Boolean));
    const { block } = openResponse({ prompt: htmlOf(taskDescription) }, sampleAnswer.join('\n'));
    return block === null ? null : questionBlocks(content, block.type, block.props);
  },
};

export const practiceTypes = [dialogcards, accordion, essay];
