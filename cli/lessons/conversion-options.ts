import { Option } from 'commander';
import { defaultOptions } from '../../shared/converters/converter.ts';
import type { ConversionOptions } from '../../shared/converters/converter.ts';
import { parseCount } from '../terminal/option-parsers.ts';

/** The choices of people who convert, as commander names them. */
export interface ConversionFlags {
  questionsPerStep?: number;
  module?: number;
}

/** Returns the choices that were made. */
export function conversionOf({ questionsPerStep, module }: ConversionFlags): Partial<ConversionOptions> {
  return {
    ...(questionsPerStep !== undefined && { questionsPerStep }),
    ...(module !== undefined && { module }),
  };
}

/** `--module`, of the commands that convert courses. */
export function moduleOption(): Option {
  return new Option(
    '--module <number>',
    'of a course (Common Cartridge, Canvas), only this module becomes the lesson (default: the whole course)',
  ).argParser(parseCount);
}

/** `--questions-per-step`, of the commands that convert question banks. */
export function questionsPerStepOption(): Option {
  return new Option(
    '--questions-per-step <number>',
    `question banks become steps of at most so many questions (default: ${defaultOptions.questionsPerStep})`,
  ).argParser(parseCount);
}
