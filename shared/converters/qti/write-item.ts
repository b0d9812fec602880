import { message } from '../../i18n/message.ts';
import { isAccepted, readBlanks, splitAtGaps } from '../../lessons/scoring/fill-in-the-blanks.ts';
import { readMatching } from '../../lessons/scoring/matching.ts';
import { readQuestion } from '../../lessons/scoring/multiple-choice.ts';
import { readNumeric } from '../../lessons/scoring/numeric.ts';
import { readOrdering } from '../../lessons/scoring/ordering.ts';
import { textOf } from '../../lessons/scoring/scoring.ts';
import { readTrueFalse } from '../../lessons/scoring/true-false.ts';
import { escapeText, toXhtml } from './xhtml.ts';

/*
 * Writes questions as items of QTI 3, whose response processing gives the points that Lectern gives.
 */

export interface ItemParts {
  /** The elements qti-response-declaration. */
  declarations: string;
  /** The content of qti-item-body, after the prompt. */
  body: string;
  /** The instructions that add the points of the answer to SCORE; null for a question that is not scored. */
  score: string | null;
  points: number;
  /** What the item cannot express. */
  losses: string[];
}

type Props = Record<string, unknown>;

/** More items would need thousands of expressions. */
const maxPartlyOrdered = 15;

/** The names in an item. Ids of blocks may have any characters. */
export const choiceName = (index: number) => `C${index + 1}`;
const targetName = (index: number) => `T${index + 1}`;
const responseName = (index: number) => (index === 0 ? 'RESPONSE' : `RESPONSE${index + 1}`);

/** Returns the writers of questions, by the type of the block. Each returns null for a block that asks nothing. */
export const itemWriters: Record<string, (props: Props, language: string) => ItemParts | null> = {
  MultipleChoice: choices,
  TrueFalse: statement,
  Numeric: number,
  FillInTheBlanks: gaps,
  Matching: pairs,
  Ordering: order,
  OpenResponse: () => ({
    declarations: declaration('RESPONSE', 'single', 'string'),
    body: '<qti-extended-text-interaction response-identifier="RESPONSE"/>',
    ...{ score: null, points: 0, losses: [] },
  }),
};

function choices(props: Props): ItemParts | null {
  const question = readQuestion(props);
  if (question.choices.length === 0) return null;
  const { correct, points, partialCredit } = question;
  const isSingle = props.multiple !== true && correct.length <= 1;
  const nameOf = (id: string) => choiceName(question.choices.findIndex((choice) => choice.id === id));
  const right = correct.map(nameOf);
  const isPartial = partialCredit && !isSingle;
  const share = points / right.length;
  const mapping = isPartial
    ? mappingOf(
        right.map((name) => [name, share]),
        -share,
      )
    : '';
  const written = question.choices.map(({ html, feedback }, index) => {
    const name = choiceName(index);
    const shown =
      feedback === ''
        ? ''
        : `<qti-feedback-inline outcome-identifier="CHOSEN" identifier="${name}" show-hide="show">${toXhtml(feedback)}</qti-feedback-inline>`;
    return `<qti-simple-choice identifier="${name}">${toXhtml(html)}${shown}</qti-simple-choice>`;
  });
  const shuffle = props.shuffle === true ? ' shuffle="true"' : '';
  return {
    declarations: declaration('RESPONSE', isSingle ? 'single' : 'multiple', 'identifier', right, mapping),
    body: `<qti-choice-interaction response-identifier="RESPONSE"${shuffle} max-choices="${isSingle ? 1 : 0}">${written.join('')}</qti-choice-interaction>`,
    score: right.length === 0 ? null : isPartial ? mapped : pointsIf(matches, points),
    ...{
      points,
      losses: question.choices.some((one) => one.hint !== '' || one.notChosenFeedback !== '')
        ? ['hints']
        : [],
    },
  };
}

function statement(props: Props, language: string): ItemParts {
  const { correct, points } = readTrueFalse(props);
  const labels = [
    textOf(props.trueLabel) || message(language, 'widget.true'),
    textOf(props.falseLabel) || message(language, 'widget.false'),
  ];
  const right = correct === undefined ? [] : [choiceName(correct ? 0 : 1)];
  const written = labels.map(
    (label, index) =>
      `<qti-simple-choice identifier="${choiceName(index)}">${escapeText(label)}</qti-simple-choice>`,
  );
  return {
    declarations: declaration('RESPONSE', 'single', 'identifier', right),
    body: `<qti-choice-interaction response-identifier="RESPONSE" max-choices="1">${written.join('')}</qti-choice-interaction>`,
    score: right.length === 0 ? null : pointsIf(matches, points),
    ...{ points, losses: [] },
  };
}

function number(props: Props): ItemParts {
  const { correct, tolerance, points } = readNumeric(props);
  const unit = textOf(props.unit);
  const right = correct === undefined ? [] : [String(correct)];
  // As Lectern does: decimal fractions are not exact in binary.
  const around = tolerance + 1e-9 * Math.max(Math.abs(correct ?? 0), tolerance);
  const near = `<qti-equal tolerance-mode="absolute" tolerance="${around} ${around}">${variable()}${correctOf()}</qti-equal>`;
  return {
    declarations: declaration('RESPONSE', 'single', 'float', right),
    body: `<p><qti-text-entry-interaction response-identifier="RESPONSE" expected-length="12"/>${unit === '' ? '' : ` ${escapeText(unit)}`}</p>`,
    score: right.length === 0 ? null : pointsIf(near, points),
    ...{ points, losses: [] },
  };
}

function gaps(props: Props): ItemParts | null {
  const question = readBlanks(props);
  const { blanks, points, partialCredit, caseSensitive } = question;
  const text = textOf(props.text);
  if (blanks.length === 0) return null;
  const hasBank = props.wordBank === true;
  const distractors = Array.isArray(props.distractors) ? props.distractors.map(textOf) : [];
  const words = [...new Set([...blanks.map(({ answers }) => answers[0] ?? ''), ...distractors])]
    .filter((word) => word !== '')
    .toSorted();
  const list = words
    .map(
      (word, index) =>
        `<qti-inline-choice identifier="${choiceName(index)}">${escapeText(word)}</qti-inline-choice>`,
    )
    .join('');
  const seen = new Set<string>();
  const parts = splitAtGaps(text);
  const marked = parts
    .map((part, index) => {
      if (index % 2 === 0) return part;
      const at = blanks.findIndex(({ id }) => id === part);
      if (at < 0 || seen.has(part)) return '____';
      seen.add(part);
      return `\uE000${at}\uE001`;
    })
    .join('');
  const body = toXhtml(marked).replaceAll(/\uE000(\d+)\uE001/g, (_mark, at: string) => {
    const response = `response-identifier="${responseName(Number(at))}"`;
    return hasBank
      ? `<qti-inline-choice-interaction ${response}>${list}</qti-inline-choice-interaction>`
      : `<qti-text-entry-interaction ${response}/>`;
  });
  const tests = blanks.map((blank, at) => {
    const name = responseName(at);
    const right = hasBank
      ? words.flatMap((word, index) => (isAccepted(question, blank, word) ? choiceName(index) : []))
      : blank.answers;
    const alternatives = right.map((answer) => {
      const value = baseValue(hasBank ? 'identifier' : 'string', answer);
      return hasBank
        ? `<qti-match>${variable(name)}${value}</qti-match>`
        : `<qti-string-match case-sensitive="${caseSensitive}">${variable(name)}${value}</qti-string-match>`;
    });
    return { right, holds: joined('or', alternatives) };
  });
  const type = hasBank ? 'identifier' : 'string';
  const holds = tests.map((one) => one.holds);
  const isTyped = !hasBank;
  return {
    declarations: tests
      .map(({ right }, at) => declaration(responseName(at), 'single', type, right.slice(0, 1)))
      .join(''),
    body: `<div>${body}</div>`,
    score:
      points === 0
        ? null
        : partialCredit
          ? holds.map((condition) => pointsIf(condition, points / holds.length)).join('')
          : pointsIf(joined('and', holds), points),
    points,
    losses: isTyped ? ['answers that only Lectern forgives, such as other quotation marks'] : [],
  };
}

function pairs(props: Props): ItemParts | null {
  const { items, options, points, partialCredit } = readMatching(props);
  if (items.length === 0) return null;
  const nameOf = (id: string) => targetName(options.findIndex((option) => option.id === id));
  const right = items.map(({ match }, index) => `${choiceName(index)} ${nameOf(match)}`);
  const share = points / right.length;
  const mapping = partialCredit
    ? mappingOf(
        right.map((pair) => [pair, share]),
        0,
      )
    : '';
  const choice = (name: string, html: string, max: number) =>
    `<qti-simple-associable-choice identifier="${name}" match-max="${max}">${toXhtml(html)}</qti-simple-associable-choice>`;
  // The order of the right sides must not give the pairs away.
  const targets = options
    .map(({ html }, index) => ({ html, name: targetName(index) }))
    .toSorted((a, b) => (a.html < b.html ? -1 : 1));
  return {
    declarations: declaration('RESPONSE', 'multiple', 'directedPair', right, mapping),
    body:
      `<qti-match-interaction response-identifier="RESPONSE" max-associations="${items.length}">` +
      `<qti-simple-match-set>${items.map(({ html }, index) => choice(choiceName(index), html, 1)).join('')}</qti-simple-match-set>` +
      `<qti-simple-match-set>${targets.map(({ html, name }) => choice(name, html, items.length)).join('')}</qti-simple-match-set>` +
      '</qti-match-interaction>',
    score: points === 0 ? null : partialCredit ? mapped : pointsIf(matches, points),
    ...{ points, losses: [] },
  };
}

function order(props: Props): ItemParts | null {
  const { items, points, partialCredit } = readOrdering(props);
  if (items.length < 2) return null;
  const names = items.map((_item, index) => choiceName(index));
  const isPartial = partialCredit && items.length <= maxPartlyOrdered;
  const share = points / (items.length - 1);
  const at = (index: number) => `<qti-index n="${index + 1}">${variable()}</qti-index>`;
  const follows = (first: string, second: string) =>
    joined(
      'or',
      names
        .slice(1)
        .map((_name, index) =>
          joined('and', [
            `<qti-match>${at(index)}${baseValue('identifier', first)}</qti-match>`,
            `<qti-match>${at(index + 1)}${baseValue('identifier', second)}</qti-match>`,
          ]),
        ),
    );
  // Sorted by their texts, so that the order does not give the answer away.
  const shown = items
    .map(({ html }, index) => ({ html, name: choiceName(index) }))
    .toSorted((a, b) => (a.html < b.html ? -1 : 1));
  const written = shown.map(
    ({ html, name }) => `<qti-simple-choice identifier="${name}">${toXhtml(html)}</qti-simple-choice>`,
  );
  return {
    declarations: declaration('RESPONSE', 'ordered', 'identifier', names),
    body: `<qti-order-interaction response-identifier="RESPONSE">${written.join('')}</qti-order-interaction>`,
    score:
      points === 0
        ? null
        : isPartial
          ? names
              .slice(1)
              .map((name, index) => pointsIf(follows(names[index] ?? '', name), share))
              .join('')
          : pointsIf(matches, points),
    points,
    losses: partialCredit && !isPartial ? ['points for a part of a long order'] : [],
  };
}

function declaration(
  id: string,
  cardinality: string,
  type: string,
  correct: readonly string[] = [],
  mapping = '',
): string {
  const values = correct.map((value) => `<qti-value>${escapeText(value)}</qti-value>`).join('');
  const right = values === '' ? '' : `<qti-correct-response>${values}</qti-correct-response>`;
  return `<qti-response-declaration identifier="${id}" cardinality="${cardinality}" base-type="${type}">${right}${mapping}</qti-response-declaration>\n`;
}

function mappingOf(entries: readonly [string, number][], otherwise: number): string {
  const written = entries.map(([key, value]) => `<qti-map-entry map-key="${key}" mapped-value="${value}"/>`);
  return `<qti-mapping lower-bound="0" default-value="${otherwise}">${written.join('')}</qti-mapping>`;
}

const variable = (id = 'RESPONSE') => `<qti-variable identifier="${id}"/>`;
const correctOf = (id = 'RESPONSE') => `<qti-correct identifier="${id}"/>`;
const baseValue = (type: string, value: string | number) =>
  `<qti-base-value base-type="${type}">${typeof value === 'number' ? value : escapeText(value)}</qti-base-value>`;
const matches = `<qti-match>${variable()}${correctOf()}</qti-match>`;
const setScore = (expression: string) =>
  `<qti-set-outcome-value identifier="SCORE">${expression}</qti-set-outcome-value>`;
const mapped = setScore('<qti-map-response identifier="RESPONSE"/>');

function joined(operator: 'and' | 'or', conditions: readonly string[]): string {
  const [first = '', ...others] = conditions;
  return others.length === 0 ? first : `<qti-${operator}>${conditions.join('')}</qti-${operator}>`;
}

/** Adds points if a condition holds. */
function pointsIf(condition: string, points: number): string {
  const added = `<qti-sum><qti-variable identifier="SCORE"/>${baseValue('float', points)}</qti-sum>`;
  return `<qti-response-condition><qti-response-if>${condition}${setScore(added)}</qti-response-if></qti-response-condition>`;
}
