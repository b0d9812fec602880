import { stepBlocks, typeOf, withoutTags } from '../lessons/blocks.ts';
import { recordOf } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { playedProps } from '../lessons/block-props.ts';
import { readMatching } from '../lessons/scoring/matching.ts';
import { readQuestion } from '../lessons/scoring/multiple-choice.ts';
import { readOrdering } from '../lessons/scoring/ordering.ts';
import { orderedSections } from '../lessons/totals.ts';
import { parseContent } from '../models/gzip-parts.ts';
import { groupsOf } from '../platform/groups.ts';

/** A question as statements describe it: its interaction type, its text and its parts. */
export interface Interaction {
  type:
    | 'choice'
    | 'true-false'
    | 'fill-in'
    | 'long-fill-in'
    | 'matching'
    | 'sequencing'
    | 'numeric'
    | 'other';
  prompt: string;
  /** The parts that answers name, by the names of their lists in statements: `choices`, `source`, `target`. */
  parts: Partial<Record<'choices' | 'source' | 'target', InteractionPart[]>>;
}

export interface InteractionPart {
  id: string;
  text: string;
}

/** The texts of a version that statements need. Workers cache some in memory. */
export interface VersionText {
  title: string;
  /** A BCP 47 tag. */
  language: string;
  steps: { id: string; title: string }[];
  /** By {@link interactionKey}. If there are too many questions, the last ones are missing. */
  interactions: Map<string, Interaction>;
  /** Its approximate size in memory. */
  characters: number;
}

/* Limits the texts of authors in statements: each statement is a row of the outbox, which all organizations share. */
const maxTextCharacters = 200;
const maxParts = 50;
const maxPartsCharacters = 4_000;
const maxPartIdCharacters = 64;
/** The maximum size of a version's questions, including objects and keys. */
const maxVersionCharacters = 2_000_000;
const objectCharacters = 100;

export function interactionKey(stepId: string, widgetId: string): string {
  return JSON.stringify([stepId, widgetId]);
}

/** A part of a version's texts, which a task returns. */
export type VersionTextPart =
  | Pick<VersionText, 'title' | 'language' | 'characters'>
  | { steps: VersionText['steps'] }
  | { interactions: [string, Interaction][] };

const stepsPerPart = 1_000;
const interactionsPerPart = 250;

/** The task that returns the {@link VersionText} of a stored content. */
export async function* versionTextTask(parts: Buffer[]): AsyncGenerator<VersionTextPart> {
  const { steps, interactions, ...text } = versionTextOf(await parseContent(parts));
  yield text;
  for (const some of groupsOf(steps, stepsPerPart)) yield { steps: some };
  for (const some of groupsOf([...interactions], interactionsPerPart)) yield { interactions: some };
}

export function versionTextOf(content: LessonContent): VersionText {
  const { title, widget_settings: settings } = content.lesson;
  const language = content.lesson.language ?? 'und';
  const interactions = new Map<string, Interaction>();
  const steps = orderedSections(content).flatMap((section) => section.steps);
  let characters = 0;
  for (const step of steps) {
    if (characters > maxVersionCharacters) break;
    for (const { block } of stepBlocks(step.content)) {
      const type = typeOf(block);
      const props = recordOf(recordOf(block).props);
      if (type === undefined || typeof props.id !== 'string') continue;
      const played = playedProps({ ...block, props: { ...props, id: props.id } }, settings.overrides);
      const interaction = interactionOf(type, played);
      characters += objectCharacters + JSON.stringify(interaction).length;
      if (characters > maxVersionCharacters) break;
      interactions.set(interactionKey(step.id, props.id), interaction);
    }
  }
  return {
    title: plain(title),
    language,
    steps: steps.map(({ id, title: name }) => ({ id, title: plain(name) })),
    interactions,
    characters: characters + steps.length * objectCharacters,
  };
}

function interactionOf(type: string, props: Record<string, unknown>): Interaction {
  const prompt = plain(props.prompt ?? props.question);
  switch (type) {
    case 'OpenResponse':
      return { type: 'long-fill-in', prompt, parts: {} };
    case 'TrueFalse':
      return { type: 'true-false', prompt, parts: {} };
    case 'FillInTheBlanks':
      return { type: 'fill-in', prompt: plain(`${prompt} ${plain(props.text)}`), parts: {} };
    case 'Numeric':
      return { type: 'numeric', prompt, parts: {} };
    case 'MultipleChoice':
      return { type: 'choice', prompt, parts: { choices: partsOf(readQuestion(props).choices) } };
    case 'Ordering':
      return { type: 'sequencing', prompt, parts: { choices: partsOf(readOrdering(props).items) } };
    case 'Matching': {
      const { items, options } = readMatching(props);
      return { type: 'matching', prompt, parts: { source: partsOf(items), target: partsOf(options) } };
    }
    default:
      return { type: 'other', prompt, parts: {} };
  }
}

function partsOf(parts: readonly { id: string; html: string }[]): InteractionPart[] {
  let room = maxPartsCharacters;
  return parts
    .filter(({ id }) => id.length <= maxPartIdCharacters)
    .slice(0, maxParts)
    .map(({ id, html }) => {
      const text = plain(html);
      room -= text.length;
      return { id, text: room < 0 ? '' : text };
    });
}

/** Returns the text of HTML, shortened. */
function plain(html: unknown): string {
  if (typeof html !== 'string') return '';
  const text = withoutTags(html).replaceAll(/\s+/g, ' ').trim();
  return [...text.slice(0, 2 * maxTextCharacters)].slice(0, maxTextCharacters).join('');
}
