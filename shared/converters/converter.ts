import type { ConvertedLesson } from './converted-lesson.ts';
import type { ConvertedMedia } from './media.ts';
import type { Result } from '../lessons/loss-report.ts';
import type { ConversionReport } from './report.ts';
import type { Source } from './source.ts';

/**
 * Reads one format of lessons, such as GIFT, and makes a lesson and a report of it. It knows files only: neither a
 * database nor HTTP, nor the package that Lectern makes of the result.
 */
export interface Converter {
  /** Names the folder of the converter and its page in docs/import/. */
  id: string;
  /** For people: "GIFT". */
  title: string;
  /** What becomes of each kind of element. docs/import/ shows this table. */
  elements: readonly ElementRule[];
  /** Returns whether a source has this format: by its content, and by names only where the format requires them. */
  detect(source: Source): Promise<boolean>;
  /**
   * Converts a source. Media stay where they are: `media` takes paths. Text files may be read as a whole within the
   * limits of {@link Source.text}; larger files are streamed.
   *
   * Faults of the source go to `faults`, all at once. The import then ends with them.
   *
   * @throws {SourceFault} for a source that cannot be read at all
   */
  convert(source: Source, job: ConversionJob): Promise<ConvertedLesson>;
}

/** What becomes of a kind of element. */
export interface ElementRule {
  /** As the format calls it, such as `multichoice`. */
  element: string;
  /** The best result. */
  result: Result;
  /** What it becomes, or why not. */
  becomes: string;
}

export interface ConversionJob {
  media: ConvertedMedia;
  report: ConversionReport;
  faults: Faults;
  options: ConversionOptions;
}

/** The choices of the person who imports. */
export interface ConversionOptions {
  /** Question banks become steps of at most so many questions. */
  questionsPerStep: number;
  /** Of a course, only this module becomes the lesson, counted from 1; null for the whole course. */
  module: number | null;
}

export const defaultOptions: ConversionOptions = { questionsPerStep: 10, module: null };

/** Collects faults, so that people see all of them at once. */
export interface Faults {
  readonly total: number;
  /** @param place such as `tides.md:31` */
  add(place: string, fault: string): void;
}
