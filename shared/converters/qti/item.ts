import type { ConvertedBlock } from '../converted-lesson.ts';
import type { Answers } from './values.ts';

/*
 * An item of any version of QTI: a text with interactions, and rules that give points and feedback to answers. Lectern
 * finds out what the rules mean by trying answers.
 */

export interface QtiItem {
  /** Plain text. */
  title: string;
  /** What the report calls the item; null if it names each interaction. */
  kind: string | null;
  parts: Part[];
  /** Interactions in feedback and other texts that learners see only at times. */
  hidden: Interaction[];
  /** Returns the points of an answer; null if Lectern does not understand the rules. */
  score: (answers: Answers) => number | null;
  feedbacks: Feedback[];
  /** Returns whether learners see a feedback after an answer. */
  shows: (feedback: Feedback, answers: Answers) => boolean;
  /** What is lost of the item, as phrases. */
  losses: Set<string>;
  /** The points in the source, if it names them beside the rules. */
  points: number | null;
  /** Why the item cannot be converted at all. */
  refusal: string | null;
}

/** HTML has a mark for each of its gaps ({@link gapMark}). */
export type Part =
  | { kind: 'html'; html: string; gaps: Interaction[] }
  | { kind: 'interaction'; interaction: Interaction }
  | { kind: 'block'; block: ConvertedBlock };

export interface Feedback {
  /** HTML. */
  html: string;
  /** The outcome and its value that show it, or hide it. */
  outcome: string;
  identifier: string;
  isShown: boolean;
}

export interface Choice {
  id: string;
  /** HTML. */
  html: string;
}

export interface Interaction {
  /** The name of its element. */
  element: string;
  /** The file and line. */
  path: string;
  type: InteractionType;
  response: string;
  /** HTML. */
  prompt: string;
  /** The choices; the sources of pairs. */
  choices: Choice[];
  /** The targets of pairs. */
  targets: Choice[];
  shuffle: boolean;
  isSingle: boolean;
  isNumber: boolean;
  /** The right answer as the source declares it, for a single response each of them; empty for none. */
  correct: string[];
  /** Further answers that may be right: texts, numbers, pairs. */
  candidates: string[];
  /** For `gapMatch`: the text with a mark for each target, in their order. */
  text: string;
  /** For `media`: the player. */
  block: ConvertedBlock | null;
  losses: Set<string>;
}

export type InteractionType =
  | 'choice'
  | 'order'
  | 'match'
  | 'associate'
  | 'gapMatch'
  | 'textEntry'
  | 'inlineChoice'
  | 'extendedText'
  | 'slider'
  | 'hottext'
  | 'media'
  | 'upload'
  | 'unsupported';

/** What became of an interaction. */
export interface Outcome {
  interaction: Interaction;
  block: ConvertedBlock | null;
  losses: string[];
}

const marks = /\uE000(\d+)\uE001/g;

/** Returns the mark of a gap in HTML. No text of a source may contain it: see {@link withoutMarks}. */
export function gapMark(index: number): string {
  return `\uE000${index}\uE001`;
}

export function withoutMarks(text: string): string {
  return text.replaceAll(/[\uE000\uE001]/g, '');
}

/** Replaces the marks of gaps. */
export function replaceMarks(html: string, replacement: (index: number) => string): string {
  return html.replaceAll(marks, (_mark, index: string) => replacement(Number(index)));
}
