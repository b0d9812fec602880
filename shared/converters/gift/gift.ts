import type { ConvertedBlock, ConvertedLesson } from '../converted-lesson.ts';
import type { Converter } from '../converter.ts';
import { wordsOf } from '../questions/question-blocks.ts';
import { sectionsOf } from '../questions/question-steps.ts';
import type { Category } from '../questions/question-steps.ts';
import { convertGiftQuestion } from './gift-question.ts';
import { itemsIn, looksLikeGift, unescape } from './gift-syntax.ts';

/** Reads GIFT, Moodle's text format of question banks. */
const gift: Converter = {
  id: 'gift',
  title: 'GIFT',
  elements: [
    { element: 'category', result: 'converted', becomes: 'a section' },
    {
      element: 'multichoice',
      result: 'converted',
      becomes: '`MultipleChoice`; `partial` with shares that Lectern does not score',
    },
    { element: 'truefalse', result: 'converted', becomes: '`TrueFalse`' },
    {
      element: 'shortanswer',
      result: 'converted',
      becomes: '`FillInTheBlanks`; `partial` with answers for part of the points',
    },
    { element: 'numerical', result: 'converted', becomes: '`Numeric`; `partial` with several right numbers' },
    { element: 'matching', result: 'converted', becomes: '`Matching`' },
    { element: 'essay', result: 'converted', becomes: '`OpenResponse`' },
    { element: 'description', result: 'converted', becomes: '`Text`' },
  ],

  async detect(source) {
    const text = await source.onlyText();
    return text !== null && looksLikeGift(text);
  },

  async convert(source, { report, faults, options }) {
    const categories: Category[] = [{ title: '', blocks: [] }];
    for (const item of itemsIn(await source.text(source.onlyPath))) {
      const path = `${source.name}:${item.line}`;
      if (item.kind === 'fault') faults.add(path, item.fault);
      else if (item.kind === 'category') {
        categories.push({ title: item.title, blocks: [] });
        report.add({ path, kind: 'category', title: item.title }, {});
      } else {
        const { kind, block, losses } = convertGiftQuestion(item);
        add(categories, block);
        const title = item.title ?? wordsOf(unescape(item.before));
        const dropped = block === null && { result: 'dropped' as const };
        report.add({ path, kind, title }, { losses, block, ...dropped });
      }
    }
    const { title } = source;
    return {
      ...{ identity: null, lesson: { title } },
      sections: sectionsOf(categories, { title, questionsPerStep: options.questionsPerStep }),
    } satisfies ConvertedLesson;
  },
};
export default gift;

function add(categories: Category[], block: ConvertedBlock | null): void {
  if (block !== null) categories.at(-1)?.blocks.push(block);
}
