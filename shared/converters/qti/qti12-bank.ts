import type { ElementRule } from '../converter.ts';
import type { ConvertedMedia } from '../media.ts';
import { childOf, childrenOf, textIn } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import type { QtiItem } from './item.ts';
import { readItem12 } from './qti12-item.ts';
import { metadataOf } from './qti12-texts.ts';

/** Elements of QTI 1.2; questions by their types in Canvas. */
export const elements12: readonly ElementRule[] = [
  {
    element: 'quiz',
    result: 'converted',
    becomes: 'its description, as `Text`; `partial` with times and limits',
  },
  { element: 'section', result: 'converted', becomes: 'a section; `partial` where it selects questions' },
  {
    element: 'multiple_choice_question',
    result: 'converted',
    becomes: '`MultipleChoice`; `partial` with points that Lectern does not give',
  },
  { element: 'true_false_question', result: 'converted', becomes: '`TrueFalse`' },
  { element: 'multiple_answers_question', result: 'converted', becomes: '`MultipleChoice`' },
  { element: 'short_answer_question', result: 'converted', becomes: '`FillInTheBlanks`' },
  { element: 'fill_in_multiple_blanks_question', result: 'converted', becomes: '`FillInTheBlanks`' },
  {
    element: 'multiple_dropdowns_question',
    result: 'partial',
    becomes: '`FillInTheBlanks` with one word bank; `converted` with one gap',
  },
  { element: 'matching_question', result: 'converted', becomes: '`Matching`' },
  { element: 'ordering_question', result: 'converted', becomes: '`Ordering`' },
  {
    element: 'numerical_question',
    result: 'converted',
    becomes: '`Numeric`; `partial` with several right numbers',
  },
  { element: 'essay_question', result: 'converted', becomes: '`OpenResponse`' },
  { element: 'file_upload_question', result: 'partial', becomes: '`OpenResponse`' },
  { element: 'text_only_question', result: 'converted', becomes: '`Text`' },
  { element: 'calculated_question', result: 'dropped', becomes: 'nothing: a program computes its numbers' },
];

export interface Assessment {
  title: string;
  sections: Section12[];
}

/** A section of QTI 1.2, without those in it, which follow it. */
export interface Section12 {
  title: string;
  line: number;
  losses: string[];
  items: (QtiItem & { line: number })[];
}

/** Returns the quizzes and question banks of a file of QTI 1.2. */
export function assessmentsIn(root: XmlElement, path: string, media: ConvertedMedia): Assessment[] {
  const banks = root.children.filter(({ name }) => /^(?:assessment|objectbank|section)$/.test(name));
  const loose = childrenOf(root, 'item');
  const all = loose.length === 0 ? banks : [...banks, { ...root, children: loose }];
  return all.map((bank) => {
    const title = bank.attributes.title?.trim() || metadataOf(bank).get('bank_title') || '';
    const sections: Section12[] = [];
    collect(bank, sections, { path, media, isTop: bank.name !== 'section' });
    return { title, sections };
  });
}

function collect(
  element: XmlElement,
  sections: Section12[],
  { path, media, isTop }: { path: string; media: ConvertedMedia; isTop: boolean },
): void {
  const items = childrenOf(element, 'item');
  if (!isTop || items.length > 0) {
    const selection = childOf(childOf(element, 'selection_ordering'), 'selection');
    const picks = textIn(selection, 'selection_number');
    const bank = textIn(selection, 'sourcebank_ref');
    const losses = [
      ...(picks !== '' && Number(picks) < items.length ? [`all its questions are asked, not ${picks}`] : []),
      ...(bank === '' ? [] : ['its questions are in a bank that is imported by itself, or not at all']),
    ];
    sections.push({
      title: element.attributes.title?.trim() ?? '',
      ...{ line: element.line, losses },
      items: items.map((item) => ({ ...readItem12(item, path, media), line: item.line })),
    });
  }
  for (const section of childrenOf(element, 'section'))
    collect(section, sections, { path, media, isTop: false });
}
