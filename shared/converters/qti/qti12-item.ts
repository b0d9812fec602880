import type { ConvertedMedia } from '../media.ts';
import { wordsOf } from '../questions/question-blocks.ts';
import { childOf, childrenOf } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { gapMark, withoutMarks } from './item.ts';
import type { Choice, Feedback, Interaction, InteractionType, Part, QtiItem } from './item.ts';
import { Unsupported } from './processing.ts';
import { metadataOf, Texts12 } from './qti12-texts.ts';
import { runConditions } from './qti12-rules.ts';
import type { Result } from './qti12-rules.ts';
import { numberOr } from './values.ts';
import type { Answers } from './values.ts';

const responseNames = /^response_(?:lid|str|num|xy|grp|na)$/;

/** The response that stands for the pairs of a matching question. */
const pairsId = 'pairs';

/** What the answers to an interaction are in the rules. */
type Translate = (answers: Answers) => Answers;

/** Reads an item of QTI 1.2, in the forms of Canvas and of Common Cartridge. */
export function readItem12(item: XmlElement, path: string, media: ConvertedMedia): QtiItem {
  const metadata = metadataOf(item);
  const type = kindOf(metadata);
  const texts = new Texts12(path, media);
  const presentation = childOf(item, 'presentation');
  const resprocessing = childOf(item, 'resprocessing');
  const fields = responsesIn(presentation);
  const prompt = texts.html(presentation, ({ name }) => responseNames.test(name));
  const reader = { item, path, texts, resprocessing, type };
  const { parts, translate } = partsOf(prompt, fields, reader);
  const resultOf = (answers: Answers): Result | null => {
    try {
      return runConditions(resprocessing, translate(answers));
    } catch (error) {
      if (error instanceof Unsupported) return null;
      throw error;
    }
  };
  const feedbacks = childrenOf(item, 'itemfeedback').flatMap((feedback): Feedback[] => {
    const html = texts.html(feedback);
    const identifier = feedback.attributes.ident ?? '';
    return html === '' ? [] : [{ html, outcome: '', identifier, isShown: true }];
  });
  const isComputed = type === 'calculated_question';
  return {
    title: titleOf(item, prompt),
    ...{ kind: type || 'item', parts, hidden: [], feedbacks, losses: texts.losses },
    score: (answers) => resultOf(answers)?.score ?? null,
    shows: ({ identifier }, answers) => resultOf(answers)?.feedbacks.has(identifier) === true,
    points: pointsOf(metadata, resprocessing),
    refusal: isComputed ? 'questions whose numbers a formula computes have no counterpart' : null,
  };
}

/** Programs call every question "Question". */
function titleOf({ attributes }: XmlElement, prompt: string): string {
  const title = attributes.title?.trim() ?? '';
  return /^(?:question\s*\d*)?$/i.test(title) ? wordsOf(prompt) : title;
}

function kindOf(metadata: Map<string, string>): string {
  const profile = metadata.get('cc_profile') ?? '';
  const names: Record<string, string> = { essay: 'essay_question', fib: 'short_answer_question' };
  return metadata.get('question_type') ?? names[profile.split('.')[1] ?? ''] ?? profile;
}

/** Canvas counts in per cent, and names the points beside the rules. */
function pointsOf(metadata: Map<string, string>, resprocessing: XmlElement | undefined): number | null {
  const written = metadata.get('points_possible') ?? metadata.get('cc_weighting');
  const points = numberOr(written, Number.NaN);
  if (Number.isFinite(points) && points >= 0) return points;
  const [outcome] = childrenOf(childOf(resprocessing, 'outcomes'), 'decvar');
  const max = numberOr(outcome?.attributes.maxvalue, 100);
  return max === 100 ? 1 : max;
}

function responsesIn(element: XmlElement | undefined): XmlElement[] {
  if (element === undefined) return [];
  return element.children.flatMap((child) => (responseNames.test(child.name) ? [child] : responsesIn(child)));
}

interface Reader {
  item: XmlElement;
  path: string;
  texts: Texts12;
  resprocessing: XmlElement | undefined;
  type: string;
}

function partsOf(
  prompt: string,
  fields: readonly XmlElement[],
  reader: Reader,
): { parts: Part[]; translate: Translate } {
  const same: Translate = (answers) => answers;
  const html: Part = { kind: 'html', html: prompt, gaps: [] };
  const { type } = reader;
  if (fields.length === 0) {
    const isUpload = type === 'file_upload_question';
    const isOpen = type === 'essay_question';
    if (!isUpload && !isOpen) return { parts: [html], translate: same };
    const interaction = interactionOf(reader.item, isUpload ? 'upload' : 'extendedText', reader);
    return { parts: [html, { kind: 'interaction', interaction }], translate: same };
  }
  if (/matching/.test(type) || isMatching(fields)) return pairs(html, fields, reader);
  const named = fields.map((field) => nameIn(field));
  if (named.some((name) => name !== '' && prompt.includes(`[${name}]`))) {
    return namedGaps(prompt, fields, named, reader);
  }
  const parts = fields.flatMap((field) => fieldParts(field, reader));
  return { parts: [html, ...parts], translate: same };
}

/** Several choices among the same texts, each after a text of its own. */
function isMatching(fields: readonly XmlElement[]): boolean {
  const lists = fields.map((field) => labelsIn(field).map(({ attributes }) => attributes.ident ?? ''));
  const isSame = new Set(lists.map((ids) => ids.toSorted().join('\n'))).size === 1;
  return fields.length > 1 && isSame && fields.every((field) => field.name === 'response_lid');
}

function labelsIn(field: XmlElement): XmlElement[] {
  return field.children.flatMap((child) => (child.name === 'response_label' ? [child] : labelsIn(child)));
}

/** Returns the name of a gap that Canvas writes into the prompt in brackets. */
function nameIn(field: XmlElement): string {
  const [material] = childrenOf(field, 'material');
  const ident = (field.attributes.ident ?? '').replace(/^response_/, '');
  return material === undefined ? ident : (childOf(material, 'mattext')?.text.trim() ?? '');
}

function interactionOf(
  field: XmlElement,
  type: InteractionType,
  { path, texts, resprocessing }: Reader,
): Interaction {
  const response = field.attributes.ident ?? 'response1';
  const ordered = /^ordered$/i.test(field.attributes.rcardinality ?? '');
  const compared = comparedIn(resprocessing, response);
  const correct = ordered
    ? compared
        .filter(({ attributes }) => attributes.index !== undefined)
        .toSorted((a, b) => numberOr(a.attributes.index, 0) - numberOr(b.attributes.index, 0))
        .map(({ text }) => text.trim())
    : [];
  return {
    ...{ element: field.name, path: `${path}:${field.line}`, type, response, correct, block: null },
    ...{ prompt: '', targets: [], text: '', losses: new Set() },
    choices: labelsIn(field).map((label) => choiceOf(label, texts)),
    shuffle: field.children.some(({ attributes }) => /^yes$/i.test(attributes.shuffle ?? '')),
    isSingle: !/^(?:multiple|ordered)$/i.test(field.attributes.rcardinality ?? 'Single'),
    isNumber:
      field.name === 'response_num' ||
      field.children.some(({ attributes }) => /^(?:decimal|integer)$/i.test(attributes.fibtype ?? '')),
    candidates: compared.map(({ text }) => text.trim()),
  };
}

function choiceOf(label: XmlElement, texts: Texts12): Choice {
  return { id: label.attributes.ident ?? '', html: texts.html(label) };
}

/** Returns the conditions that compare a response with something. */
function comparedIn(element: XmlElement | undefined, response: string): XmlElement[] {
  if (element === undefined) return [];
  const own = element.attributes.respident === response ? [element] : [];
  return [...own, ...element.children.flatMap((child) => comparedIn(child, response))];
}

function fieldParts(field: XmlElement, reader: Reader): Part[] {
  const before = reader.texts.html(field, ({ name }) => /^(?:render_|response_label)/.test(name));
  const html: Part[] = before === '' ? [] : [{ kind: 'html', html: before, gaps: [] }];
  const isOpen = reader.type === 'essay_question';
  if (field.name === 'response_lid') {
    const isOrder = /^ordered$/i.test(field.attributes.rcardinality ?? '');
    const interaction = interactionOf(field, isOrder ? 'order' : 'choice', reader);
    return [...html, { kind: 'interaction', interaction }];
  }
  if (field.name !== 'response_str' && field.name !== 'response_num') {
    const interaction = interactionOf(field, 'unsupported', reader);
    return [...html, { kind: 'interaction', interaction }];
  }
  const interaction = { ...interactionOf(field, isOpen ? 'extendedText' : 'textEntry', reader), choices: [] };
  if (isOpen || interaction.candidates.length === 0) {
    return [...html, { kind: 'interaction', interaction: { ...interaction, type: 'extendedText' } }];
  }
  return [...html, { kind: 'html', html: `<p>${gapMark(0)}</p>`, gaps: [interaction] }];
}

/** Pairs of the texts before each field and its choices. */
function pairs(html: Part, fields: readonly XmlElement[], reader: Reader): ReturnType<typeof partsOf> {
  const { texts } = reader;
  const labels = new Map(
    fields.flatMap((field) => labelsIn(field)).map((label) => [label.attributes.ident ?? '', label] as const),
  );
  const ids = [...labels.keys()];
  const [first] = fields;
  const sources = fields.map((field, index) => ({
    id: `s${index}`,
    html: texts.html(field, ({ name }) => /^(?:render_|response_label)/.test(name)),
  }));
  const targets = [...labels.values()].map((label, index) => ({
    ...choiceOf(label, texts),
    id: `t${index}`,
  }));
  const candidates = sources.flatMap((source) => targets.map((target) => `${source.id} ${target.id}`));
  const interaction: Interaction = {
    ...interactionOf(first ?? reader.item, 'match', reader),
    ...{ response: pairsId, choices: sources, targets, candidates, isSingle: false },
  };
  const translate: Translate = (answers) => {
    const result = new Map<string, readonly string[]>();
    for (const pair of answers.get(pairsId) ?? []) {
      const [, source, target] = /^s(\d+) t(\d+)$/.exec(pair) ?? [];
      const ident = fields[Number(source)]?.attributes.ident;
      if (ident !== undefined) result.set(ident, [ids[Number(target)] ?? '']);
    }
    return result;
  };
  return { parts: [html, { kind: 'interaction', interaction }], translate };
}

/** Gaps in the prompt, whose answers Canvas lists as choices. */
function namedGaps(
  prompt: string,
  fields: readonly XmlElement[],
  names: readonly string[],
  reader: Reader,
): ReturnType<typeof partsOf> {
  const isList = /dropdown/.test(reader.type);
  const lists = fields.map((field) => interactionOf(field, isList ? 'inlineChoice' : 'textEntry', reader));
  const gaps = lists.map((list) => {
    const words = list.choices.map(({ html }) => wordsOf(html));
    return isList ? list : { ...list, choices: [], candidates: words };
  });
  const named = new Set(
    fields.flatMap(({ attributes }) =>
      comparedIn(reader.resprocessing, attributes.ident ?? '').map(({ text }) => text.trim()),
    ),
  );
  let html = withoutMarks(prompt);
  for (const [index, name] of names.entries()) html = html.replace(`[${name}]`, () => gapMark(index));
  const missing = names.flatMap((_name, index) => (html.includes(gapMark(index)) ? [] : [gapMark(index)]));
  html += missing.map((mark) => `<p>${mark}</p>`).join('');
  const translate: Translate = (answers) =>
    new Map(
      [...answers].map(([response, values]) => {
        const gap = lists.find((one) => one.response === response);
        if (isList || gap === undefined) return [response, values];
        // Rules name an answer by its id, or by its text.
        const idOf = (text: string) =>
          gap.choices.find(
            ({ id, html }) => named.has(id) && wordsOf(html).toLowerCase() === text.toLowerCase(),
          )?.id;
        return [response, values.map((text) => idOf(text) ?? text)];
      }),
    );
  return { parts: [{ kind: 'html', html, gaps }], translate };
}
