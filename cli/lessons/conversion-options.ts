import { Option } from 'commander';
import { defaultOptions } from '../../shared/converters/converter.ts';
import { parseCount } from '../terminal/option-parsers.ts';

/** `--questions-per-step`, of the commands that convert question banks. */
export function questionsPerStepOption(): Option {
  return new Option(
    '--questions-per-step <number>',
    `question banks become steps of at most so many questions (default: ${defaultOptions.questionsPerStep})`,
  ).argParser(parseCount);
}
