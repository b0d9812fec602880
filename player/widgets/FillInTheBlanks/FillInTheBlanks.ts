import { message } from '../../../shared/i18n/message.ts';
import {
  answerIn,
  isAccepted,
  maxBlankCharacters,
  readBlanks,
  scoreBlanks,
  splitAtGaps,
} from '../../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { listOf } from '../../../shared/lessons/json-values.ts';
import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { richText } from '../../html.ts';
import { record, text } from '../../props.ts';
import { checkOnEnter, showQuestion } from '../../question/question.ts';
import { shuffled } from '../../question/shuffle.ts';
import { blankField, type BlankField } from './blank-field.ts';

/** A text with gaps, which learners fill by typing, or with the words of a word bank. */
export default defineWidget('FillInTheBlanks', (root, options) => {
  const { props, context } = options;
  const { language } = context;
  const question = readBlanks(props);
  const words = props.wordBank === true ? wordsOf(question.blanks, props) : undefined;

  showQuestion<Record<string, string>>(
    root,
    options,
    (answer) => scoreBlanks(props, answer),
    ({ labelledBy, describedBy }, view) => {
      const body = richText(props.text, context);
      if (body === undefined || question.blanks.length === 0) return undefined;
      const authored = new Map(
        [...listOf(props.blanks)].reverse().map((entry) => [text(record(entry).id), record(entry)] as const),
      );
      const longest = Math.max(
        ...question.blanks.flatMap(({ answers }) => answers.map(({ length }) => length)),
      );
      const fields = question.blanks.map((blank, index) =>
        blankField(blank, {
          label: message(language, 'fillInTheBlanks.gap', { gap: index + 1, gaps: question.blanks.length }),
          words,
          // Gaps of one length do not give answers away.
          characters: Math.min(Math.max(longest + 2, 8), 30),
          authored: authored.get(blank.id) ?? {},
          context,
        }),
      );
      const shown = fillGaps(body, new Map(fields.map((field) => [field.id, field])));
      for (const { input } of shown) checkOnEnter(input, view);
      const notes = element('div', { class: 'lectern-blank-notes' });
      const holder = element(
        'div',
        {
          class: 'lectern-blanks',
          role: 'group',
          'aria-labelledby': labelledBy,
          'aria-describedby': describedBy,
        },
        body,
        notes,
      );

      return {
        element: holder,
        instruction: message(language, words ? 'fillInTheBlanks.choose' : 'fillInTheBlanks.write'),
        askFirst: message(language, 'fillInTheBlanks.fillFirst'),
        read() {
          const given = shown.flatMap(({ id, input }) =>
            input.value.trim() ? [[id, input.value.trim()]] : [],
          );
          return given.length === 0 ? undefined : (Object.fromEntries(given) as Record<string, string>);
        },
        restore(state) {
          for (const field of shown) field.fill(answerIn(state, field.id).slice(0, maxBlankCharacters));
          return shown.some(({ input }) => input.value !== '');
        },
        show(answer, { score, isClosed }) {
          const said = shown.flatMap((field) => {
            const isRight = isAccepted(question, field, answerIn(answer, field.id));
            field.mark(score === null ? undefined : isRight, isClosed);
            return score === null ? [] : field.feedback(isRight);
          });
          notes.replaceChildren(...said);
        },
        ruleFor: (answer) =>
          shown.some((field) => isAccepted(question, field, answerIn(answer, field.id)))
            ? message(language, 'widget.allOrNothing')
            : undefined,
        open() {
          for (const field of shown) field.open();
          notes.replaceChildren();
        },
        retry() {
          // What is right stays, so that learners only correct the rest.
          const wrong = shown.find((field) => !isAccepted(question, field, field.input.value));
          (wrong ?? shown[0])?.input.focus();
        },
      };
    },
  );
});

/** Returns the words to choose from, each once: the right ones of all gaps, and the distractors. */
function wordsOf(blanks: { id: string; answers: string[] }[], props: Record<string, unknown>): string[] {
  const right = blanks.flatMap(({ answers }) => answers.slice(0, 1));
  const all = new Set([...right, ...listOf(props.distractors).map(text)].filter(Boolean));
  return shuffled([...all], text(props.id));
}

/** Replaces the gaps in a text by their fields. Returns the fields that have a place, in the text's order. */
function fillGaps(body: HTMLElement, fields: Map<string, BlankField>): BlankField[] {
  const shown: BlankField[] = [];
  const texts = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (texts.nextNode()) found.push(texts.currentNode as Text);
  for (const node of found) {
    // Formulas and drawings cannot contain fields.
    if (!(node.parentElement instanceof HTMLElement) || !node.data.includes('[[')) continue;
    const parts = splitAtGaps(node.data).map((part, index) => {
      const field = index % 2 === 1 ? fields.get(part) : undefined;
      if (field === undefined) return index % 2 === 1 ? `[[${part}]]` : part;
      fields.delete(part);
      shown.push(field);
      return field.element;
    });
    node.replaceWith(...parts);
  }
  return shown;
}
