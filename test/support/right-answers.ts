import { readBlanks } from '../../shared/lessons/scoring/fill-in-the-blanks.ts';
import { readMatching } from '../../shared/lessons/scoring/matching.ts';
import { readQuestion } from '../../shared/lessons/scoring/multiple-choice.ts';
import { readNumeric } from '../../shared/lessons/scoring/numeric.ts';
import { readOrdering } from '../../shared/lessons/scoring/ordering.ts';
import { readTrueFalse } from '../../shared/lessons/scoring/true-false.ts';

/** Right answers of the question types that take an answer, as learners' browsers report them. */
export const rightAnswers: Record<string, (props: unknown) => unknown> = {
  MultipleChoice: (props) => readQuestion(props).correct,
  TrueFalse: (props) => readTrueFalse(props).correct,
  FillInTheBlanks: (props) =>
    Object.fromEntries(readBlanks(props).blanks.map(({ id, answers: [answer] }) => [id, answer])),
  Matching: (props) => Object.fromEntries(readMatching(props).items.map(({ id, match }) => [id, match])),
  Ordering: (props) => readOrdering(props).items.map(({ id }) => id),
  Numeric: (props) => readNumeric(props).correct,
  OpenResponse: () => 'The moon.',
};
