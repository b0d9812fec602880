import type { ConvertedLesson } from '../converted-lesson.ts';
import type { ConversionJob, Converter } from '../converter.ts';
import { escapeHtml, multipleChoice } from '../questions/question-blocks.ts';
import { sectionsOf } from '../questions/question-steps.ts';
import type { Source } from '../source.ts';

const choiceLine = /^\s*([A-Z])[.)]\s+(.*\S)\s*$/;
const answerLine = /^ANSWER[ \t]*:(.*)$/i;

/** Reads Aiken: a question, lines `A. …`, and a line `ANSWER: B`. */
const aiken: Converter = {
  id: 'aiken',
  title: 'Aiken',
  elements: [{ element: 'question', result: 'converted', becomes: '`MultipleChoice`' }],

  async detect(source) {
    const lines = (await source.onlyText())?.split('\n') ?? [];
    const answer = lines.findIndex((line) => answerLine.test(line.trim()));
    return lines.slice(0, Math.max(answer, 0)).some((line) => choiceLine.test(line));
  },

  async convert(source, job) {
    const blocks = [];
    for (const question of questionsIn(await source.text(source.onlyPath))) {
      const block = convertQuestion(question, source, job);
      if (block !== null) blocks.push(block);
    }
    const title = source.title;
    const { questionsPerStep } = job.options;
    return {
      ...{ identity: null, lesson: { title } },
      sections: sectionsOf([{ title: '', blocks }], { title, questionsPerStep }),
    } satisfies ConvertedLesson;
  },
};
export default aiken;

interface AikenQuestion {
  /** The number of its first line. */
  line: number;
  prompt: string[];
  choices: { letter: string; text: string }[];
  /** Null at the end of the file. */
  answer: string | null;
}

function* questionsIn(text: string): Generator<AikenQuestion> {
  let question: AikenQuestion | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    question ??= { line: index + 1, prompt: [], choices: [], answer: null };
    const answer = answerLine.exec(line.trim());
    const choice = choiceLine.exec(line);
    const next = String.fromCharCode(65 + question.choices.length);
    if (answer !== null) {
      yield { ...question, answer: (answer[1] ?? '').trim() };
      question = null;
    } else if (choice?.[1] === next && question.prompt.length > 0) {
      question.choices.push({ letter: next, text: choice[2] ?? '' });
    } else if (question.choices.length > 0) {
      const last = question.choices.at(-1);
      if (last !== undefined) last.text += ` ${line.trim()}`;
    } else {
      question.prompt.push(line.trim());
    }
  }
  if (question !== null) yield question;
}

function convertQuestion(
  { line, prompt, choices, answer }: AikenQuestion,
  source: Source,
  job: ConversionJob,
) {
  const path = `${source.name}:${line}`;
  const letter = answer?.toUpperCase() ?? null;
  if (letter === null) job.faults.add(path, 'has no line such as "ANSWER: A" after it');
  else if (!choices.some((choice) => choice.letter === letter)) {
    const letters = choices.map((choice) => choice.letter).join(', ');
    job.faults.add(
      path,
      `ANSWER is ${answer === '' ? 'empty' : answer}, and the choices are ${letters || 'missing'}`,
    );
  }
  const weighted = choices.map((choice) => ({
    text: escapeHtml(choice.text),
    weight: choice.letter === letter ? 1 : 0,
  }));
  const { block, losses } = multipleChoice({ prompt: escapeHtml(prompt.join('\n')) }, weighted, {
    ...{ isSingle: true, shuffle: false },
  });
  job.report.add(
    { path, kind: 'question', title: prompt.join(' ') },
    { losses, block, ...(block === null && { result: 'dropped' as const }) },
  );
  return block;
}
