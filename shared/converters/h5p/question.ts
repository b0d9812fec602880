import { recordOf } from '../../lessons/json-values.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { recordsOf } from './contents.ts';
import type { H5pContent } from './contents.ts';
import { htmlOf, numberOf } from './texts.ts';

/** Returns the blocks of a question: its picture, video or audio, and the question. */
export function questionBlocks(content: H5pContent, type: string, props: object): ConvertedBlock[] {
  return [...mediaOf(content), { type, props: { ...props } }];
}

/** Returns the picture, video or audio above a question, from the three places that versions have for it. */
export function mediaOf(content: H5pContent): ConvertedBlock[] {
  const { media, image } = content.params;
  const blocks = content.child(recordOf(media).type ?? media);
  const src = content.file(image, 'image');
  return src === null ? blocks : [...blocks, { type: 'Image', props: { src, alt: '' } }];
}

/** Returns the props for the buttons "Retry" and "Show solution", where authors turned them off. */
export function buttonProps(content: H5pContent): object {
  const isOff = (value: unknown) => value === false || value === 'false' || value === 'off';
  const retry = overriding(content, 'retryButton', 'overrideRetry');
  const solution = overriding(content, 'showSolutionButton', 'overrideShowSolutionButton');
  return {
    ...(isOff(retry ?? content.setting('enableRetry', 'tryAgain')) && { attempts: 1 }),
    ...(isOff(solution ?? content.setting('enableSolutionsButton')) && { showAnswers: false }),
  };
}

/** Returns what a content around this one sets for all buttons of a kind; undefined if none does. */
function overriding({ parent }: H5pContent, name: string, oldName: string): unknown {
  if (parent === null) return undefined;
  const override = recordOf(parent.params.override);
  const old = override.overrideButtons === true ? override[oldName] : undefined;
  const value = override[name] ?? old;
  return ['on', 'off', true, false].includes(value as string) ? value : overriding(parent, name, oldName);
}

export interface WholeFeedback {
  right?: string;
  partly?: string;
  wrong?: string;
}

/**
 * Returns the feedback for the whole answer, which H5P has for ranges of percentages. Where several ranges lie between
 * nothing and everything, the first one stands for them.
 *
 * @param points how many points the question has: an answer earns a whole number of them
 */
export function rangeFeedback(content: H5pContent, points: number): WholeFeedback {
  const ranges = rangesOf(content);
  const textAt = (share: number) => {
    const percent = Math.floor(share * 100);
    const range = ranges.find(
      ({ from, to, feedback }) =>
        (numberOf(from) ?? 0) <= percent && (numberOf(to) ?? 100) >= percent && htmlOf(feedback) !== '',
    );
    return withoutPoints(htmlOf(range?.feedback));
  };
  const between = Array.from({ length: Math.min(points, 100) - 1 }, (_, index) => (index + 1) / points);
  const partly = [...new Set(between.map(textAt))];
  content.lose('feedback for some ranges of points', partly.length > 1);
  return { right: textAt(1), partly: partly[0] ?? '', wrong: textAt(0) };
}

/** Returns whether a content has feedback for the whole answer. */
export function hasRangeFeedback(content: H5pContent): boolean {
  return rangesOf(content).some(({ feedback }) => withoutPoints(htmlOf(feedback)) !== '');
}

function rangesOf({ params: { overallFeedback } }: H5pContent): Record<string, unknown>[] {
  return recordsOf(recordOf(overallFeedback).overallFeedback ?? overallFeedback);
}

// cspell:ignore maxscore numcorrect -- placeholders of H5P
/** Leaves out sentences with the number of points, which Lectern shows anyway. */
function withoutPoints(feedback: string): string {
  const sentences = feedback.match(/[^.!?]+[.!?]*/g) ?? [];
  return sentences
    .filter((sentence) => !/[@:](?:score|total|num|maxscore|numcorrect|finals|totals)\b/i.test(sentence))
    .join('')
    .trim();
}
