import type { ConvertedLesson } from '../converted-lesson.ts';
import type { Converter } from '../converter.ts';
import { categoryTitle } from '../gift/gift-syntax.ts';
import { wordsOf } from '../questions/question-blocks.ts';
import { sectionsOf } from '../questions/question-steps.ts';
import type { Category } from '../questions/question-steps.ts';
import { childOf, childrenOf, parseXml, textIn } from '../xml.ts';
import { convertMoodleQuestion } from './moodle-question.ts';

/** Reads question banks that Moodle exports as XML, with their files. */
const moodleXml: Converter = {
  id: 'moodle-xml',
  title: 'Moodle XML',
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
    { element: 'ordering', result: 'converted', becomes: '`Ordering`' },
    {
      element: 'ddwtos',
      result: 'converted',
      becomes: '`FillInTheBlanks` with a word bank; `partial` with several groups',
    },
    {
      element: 'gapselect',
      result: 'converted',
      becomes: '`FillInTheBlanks` with a word bank; `partial` with several groups',
    },
    {
      element: 'cloze',
      result: 'partial',
      becomes: '`FillInTheBlanks`; `converted` if each gap is a text with one right answer',
    },
    { element: 'other types', result: 'dropped', becomes: 'nothing: they have no counterpart' },
  ],

  async detect(source) {
    const text = await source.onlyText();
    return text !== null && /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<quiz[\s>]/s.test(text);
  },

  async convert(source, { media, report, options }) {
    const root = parseXml(await source.text(source.onlyPath), source.name);
    const categories: Category[] = [{ title: '', blocks: [] }];
    for (const question of childrenOf(root, 'question')) {
      const kind = question.attributes.type ?? 'question';
      const path = `${source.name}:${question.line}`;
      if (kind === 'category') {
        const title = categoryTitle(textIn(childOf(question, 'category'), 'text'));
        categories.push({ title, blocks: [] });
        report.add({ path, kind, title }, {});
        continue;
      }
      const { block, losses } = convertMoodleQuestion(question, kind, media);
      if (block !== null) categories.at(-1)?.blocks.push(block);
      const name = textIn(childOf(question, 'name'), 'text');
      const title = name === '' ? wordsOf(textIn(childOf(question, 'questiontext'), 'text')) : wordsOf(name);
      report.add(
        { path, kind, title },
        { losses, block, ...(block === null && { result: 'dropped' as const }) },
      );
    }
    const { title } = source;
    return {
      ...{ identity: null, lesson: { title } },
      sections: sectionsOf(categories, { title, questionsPerStep: options.questionsPerStep }),
    } satisfies ConvertedLesson;
  },
};
export default moodleXml;
