import { decodeEntities, choiceId, escapeHtml, questionProps } from '../../questions/question-blocks.ts';
import type { ContentType } from '../contents.ts';
import { buttonProps, questionBlocks, rangeFeedback } from '../question.ts';
import { htmlOf } from '../texts.ts';

/** Longer lists of choices are no help. */
const maxWords = 100;

export const markTheWords: ContentType = {
  element: 'H5P.MarkTheWords',
  result: 'partial',
  becomes: `\`MultipleChoice\` with the words as choices, scored alike; \`Text\` with more than ${maxWords} words or no right one`,
  convert(content) {
    const { taskDescription, textField } = content.params;
    const html = htmlOf(textField).replaceAll(/\r\n|\n|\r/g, ' ');
    const words = html.split(/<[^>]*>/).flatMap((text) => wordsIn(decodeEntities(text)));
    const right = words.filter(({ isRight }) => isRight).length;
    const prompt = `${htmlOf(taskDescription)}\n${html.replaceAll(/\*(\*?)/g, '$1')}`;
    if (words.length === 0) return null;
    if (words.length > maxWords || right === 0) {
      content.lose(
        right === 0 ? 'no word is right, so it is not scored' : `its ${words.length} words cannot be marked`,
      );
      return questionBlocks(content, 'Text', { html: prompt });
    }
    content.lose('learners choose the words in a list below the text');
    return questionBlocks(content, 'MultipleChoice', {
      ...questionProps({ prompt, feedback: rangeFeedback(content, right) }),
      choices: words.map(({ word }, index) => ({ id: choiceId(index), html: escapeHtml(word) })),
      correct: words.flatMap(({ isRight }, index) => (isRight ? [choiceId(index)] : [])),
      ...{ multiple: true, partialCredit: true, points: right },
      ...buttonProps(content),
    });
  },
};

/** Returns the words that learners can mark, without the punctuation around them. */
function wordsIn(text: string): { word: string; isRight: boolean }[] {
  const entries = text.match(/ \*[^* ]+\* |\S+/g) ?? [];
  return entries.flatMap((entry) => {
    const bare = entry
      .trim()
      .replace(/^[[({⟨¿¡“"«„]+/, '')
      .replace(/[",….:;?!\])}⟩»”]+$/, '');
    if (bare === '') return [];
    // A star before and after; a character, such as an apostrophe, may follow. Two stars are a star in the text.
    const marked = bare.replaceAll('**', '');
    const isRight = marked.length > 2 && /^\*.*\*.?$/s.test(marked);
    const plain = isRight ? bare.replace(/\*.?$/s, '').slice(1) : bare;
    const word = plain.replaceAll(/\*(\*?)/g, '$1');
    return word === '' ? [] : [{ word, isRight }];
  });
}
