import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import { playedProps } from '../lessons/block-props.ts';
import { lessonBlocks } from '../lessons/blocks.ts';
import { quote } from '../lessons/json-values.ts';
import type { Block, LessonContent } from '../lessons/lesson-content.ts';
import { codeOf, messageOf } from '../platform/errors.ts';

/** Longer sources are not converted. */
const maxSourceCharacters = 50_000;

/** The timeouts of one formula or program, and of all in a lesson. A hostile source could take forever. */
const blockTimeoutMs = 1_000;
const lessonBudgetMs = 20_000;

/** A conversion of one prop to another; throws for a source with a fault. */
interface Conversion {
  from: string;
  to: string;
  convert: (source: string, props: Record<string, unknown>) => string;
  /** The beginning of the warning about a fault, for authors. */
  failure: string;
}

/**
 * Converts the sources that authors write to markup for browsers: LaTeX to MathML, and programs to highlighted HTML.
 * Players then need no library for it. Changes the content in place; the source stays beside the result, so that
 * importing an exported lesson converts it again. The player sanitizes both results.
 *
 * @returns warnings about sources that cannot be converted, which learners see as they are
 */
export async function convertBlocks(content: LessonContent): Promise<string[]> {
  const found = [...lessonBlocks(content)].filter(
    ({ block }) => block.type === 'Math' || block.type === 'Code',
  );
  if (found.length === 0) return [];
  const conversions: Record<string, Conversion> = { Math: await latexToMathml(), Code: highlighting() };
  const { overrides } = content.lesson.widget_settings;
  const deadline = Date.now() + lessonBudgetMs;
  return found.flatMap(({ block, path }) => {
    const conversion = conversions[block.type ?? ''];
    const fault = conversion && convertBlock(block, overrides, conversion, deadline);
    return fault ? [`lesson.json: ${path}.props.${conversion.from}: ${fault}`] : [];
  });
}

/** Sets the converted prop, or removes it. Returns the reason if the source cannot be converted. */
function convertBlock(
  block: Block,
  overrides: LessonContent['lesson']['widget_settings']['overrides'],
  { from, to, convert, failure }: Conversion,
  deadline: number,
): string | undefined {
  const props = playedProps(block, overrides);
  const source = block.props[from];
  // Authors may give MathML without LaTeX.
  if (typeof source !== 'string' || source.trim() === '') return undefined;
  Reflect.deleteProperty(block.props, to);
  if (source.length > maxSourceCharacters) return `has more than ${maxSourceCharacters} characters`;
  const timeoutMs = Math.min(blockTimeoutMs, deadline - Date.now());
  if (timeoutMs <= 0) return 'is not converted, because the lesson takes too long to convert';
  try {
    block.props[to] = withTimeout(() => convert(source, props), timeoutMs);
    return undefined;
  } catch (error) {
    if (codeOf(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'takes too long to convert';
    return `${failure}: ${quote(messageOf(error).trim(), 300)}`;
  }
}

/**
 * Runs a synchronous function with a time limit, which also ends a regular expression that backtracks.
 *
 * @throws an Error after that time
 */
function withTimeout(run: () => string, timeoutMs: number): string {
  let result = '';
  const context = createContext({
    run: () => {
      result = run();
    },
  });
  runInContext('run()', context, { timeout: Math.ceil(timeoutMs) });
  return result;
}

async function latexToMathml(): Promise<Conversion> {
  const { default: temml } = await import('temml');
  const options = { displayMode: true, throwOnError: true, trust: false, maxExpand: 1_000 };
  return {
    from: 'latex',
    to: 'mathml',
    convert: (source) => temml.renderToString(source, { ...options, maxSize: [50, 50] }),
    failure: 'is not valid LaTeX',
  };
}

/** The used part of highlight.js. Its own types would add browser types to the whole project. */
interface Highlighter {
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string };
}

function highlighting(): Conversion {
  const highlighter = createRequire(import.meta.url)('highlight.js/lib/common') as Highlighter;
  return {
    from: 'code',
    to: 'highlighted',
    convert(source, { language }) {
      if (typeof language !== 'string' || language === '') return '';
      if (highlighter.getLanguage(language) === undefined) {
        throw new Error(`the language ${quote(language)} is unknown`);
      }
      return highlighter.highlight(source.replace(/\n+$/, ''), { language, ignoreIllegals: true }).value;
    },
    failure: 'is not highlighted',
  };
}
