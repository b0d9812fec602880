import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import { blockPlaces } from '../lessons/authoring.ts';
import { playedProps } from '../lessons/block-props.ts';
import { lessonBlocks, memberPath } from '../lessons/blocks.ts';
import { coreWidgetFields } from '../lessons/core-widget-fields.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import { ElementCount } from '../lessons/html-media.ts';
import { isRecord, listOf, quote, recordOf } from '../lessons/json-values.ts';
import type { Block, LessonContent } from '../lessons/lesson-content.ts';
import type { Field, Fields } from '../lessons/widget-fields.ts';
import { codeOf, messageOf } from '../platform/errors.ts';
import { convertFormulasInHtml, convertFormulasInText } from './formulas/formulas-in-html.ts';
import { texIn, withoutDelimiters } from './formulas/tex-in-text.ts';
import { loadTexConverter } from './formulas/tex-to-mathml.ts';
import type { TexConverter } from './formulas/tex-to-mathml.ts';

/** Longer sources are not converted. */
const maxSourceCharacters = 50_000;

/** The timeouts of one formula or program, and of all in a lesson. A hostile source could take forever. */
const blockTimeoutMs = 1_000;
const lessonBudgetMs = 5_000;

/** A conversion of one prop to another; throws for a source with a fault. */
interface Conversion {
  from: string;
  to: string;
  convert: (source: string, props: Record<string, unknown>) => string;
  /** The beginning of the warning about a fault, for authors. */
  failure: string;
}

/**
 * Converts the sources that authors write to markup for browsers: LaTeX and MathML 3 to MathML Core, and programs to
 * highlighted HTML. Players then need no library for it. Changes the content in place; the source of a `Math` or `Code`
 * block stays beside the result. Converting an exported lesson again changes nothing. The player sanitizes all results.
 *
 * @returns warnings about sources that cannot be converted, which learners see as they are
 */
export function convertBlocks(content: LessonContent): string[] {
  const { overrides } = content.lesson.widget_settings;
  const deadline = Date.now() + lessonBudgetMs;
  const toMathml = texConverter(deadline);
  const inText = content.lesson.inlineTex === false ? null : toMathml;
  const tools: TextTools = { inText, elements: new ElementCount() };
  const conversions: Record<string, Conversion> = {
    Math: {
      ...{ from: 'latex', to: 'mathml', failure: 'is not valid LaTeX' },
      convert: (source) => toMathml(withoutDelimiters(source), true),
    },
    Code: highlighting(deadline),
  };
  const placeOf = blockPlaces(content);
  const warnings = Object.entries(overrides).flatMap(([type, settings]) =>
    convertTexts(type, settings, tools).map(
      (fault) => `The settings for all widgets of the type ${type}: ${fault}`,
    ),
  );
  if (inText !== null) warnings.push(...titlesWithTex(content));
  for (const visit of lessonBlocks(content)) {
    const { block } = visit;
    // Before the LaTeX of a `Math` block becomes its MathML.
    const faults = convertTexts(block.type, block.props, tools);
    const conversion = conversions[block.type ?? ''];
    const fault = conversion && convertBlock(block, overrides, conversion);
    if (fault !== undefined) faults.push(`${conversion?.from} ${fault}`);
    for (const one of faults) warnings.push(`${placeOf(visit)}: ${one}`);
  }
  return warnings.map((warning) => `lesson.json: ${warning}`);
}

/** Warns of TeX in titles and on the cover, which learners see as it is: lists and platforms have no formulas. */
function titlesWithTex({ lesson, sections }: LessonContent): string[] {
  const { text, objectives } = recordOf(lesson.cover);
  const texts: [place: string, text: unknown][] = [
    ['lesson.title', lesson.title],
    ['lesson.cover.text', text],
    ...listOf(objectives).map((entry, index): [string, unknown] => [
      `lesson.cover.objectives[${index}]`,
      entry,
    ]),
    ...sections.flatMap(({ title, steps }, index): [string, unknown][] => [
      [`Section ${index + 1}`, title],
      ...steps.map((step, at): [string, unknown] => [`Section ${index + 1}, step ${at + 1}`, step.title]),
    ]),
  ];
  return texts.flatMap(([place, shown]) =>
    typeof shown === 'string' && texIn(shown).some(({ tex }) => tex !== null)
      ? [`${place}: ${quote(shown)} has TeX, which titles and covers show as it is`]
      : [],
  );
}

/** Sets the converted prop, or removes it. Returns the reason if the source cannot be converted. */
function convertBlock(
  block: Block,
  overrides: LessonContent['lesson']['widget_settings']['overrides'],
  { from, to, convert, failure }: Conversion,
): string | undefined {
  const props = playedProps(block, overrides);
  const source = block.props[from];
  // Authors may give MathML without LaTeX.
  if (typeof source !== 'string' || source.trim() === '') return undefined;
  Reflect.deleteProperty(block.props, to);
  if (source.length > maxSourceCharacters) return `has more than ${maxSourceCharacters} characters`;
  try {
    block.props[to] = convert(source, props);
    return undefined;
  } catch (error) {
    return error instanceof TooSlow ? error.message : `${failure}: ${quote(messageOf(error).trim(), 300)}`;
  }
}

/** Tools for converting the texts of a lesson. */
interface TextTools {
  /** Null if formulas in texts stay as they are. */
  inText: TexConverter | null;
  elements: ElementCount;
}

/** Converts the formulas in the texts of a core widget. Returns what cannot be converted. */
function convertTexts(type: string | undefined, props: unknown, tools: TextTools): string[] {
  if (type === undefined || !isCoreWidget(type) || !isRecord(props)) return [];
  return convertMembers(props, coreWidgetFields[type], tools, '');
}

function convertMembers(
  holder: Record<string, unknown>,
  fields: Fields,
  tools: TextTools,
  path: string,
): string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    Object.hasOwn(holder, name)
      ? convertMember(holder, name, field, tools, path === '' ? name : memberPath(path, name))
      : [],
  );
}

function convertMember(
  holder: Record<string, unknown>,
  name: string,
  field: Field,
  tools: TextTools,
  path: string,
): string[] {
  const value = holder[name];
  if (field.kind === 'object') return isRecord(value) ? convertMembers(value, field.fields, tools, path) : [];
  if (field.kind === 'list') {
    return listOf(value).flatMap((entry, index) =>
      isRecord(entry) ? convertMembers(entry, field.fields, tools, `${path}[${index}]`) : [],
    );
  }
  const isHtml = field.kind === 'html';
  if (typeof value !== 'string' || !(isHtml || (field.kind === 'text' && field.hasFormulas))) return [];
  const { inText, elements } = tools;
  if (!isHtml && inText === null) return [];
  try {
    const { text, faults } =
      !isHtml && inText !== null
        ? convertFormulasInText(value, inText)
        : convertFormulasInHtml(value, inText, elements);
    holder[name] = text;
    return faults.map((fault) => `${path}: ${fault}`);
  } catch (error) {
    return [`${path}: ${messageOf(error)}`];
  }
}

class TooSlow extends Error {}

/** Returns a converter that loads the library when a formula needs it, and converts equal formulas once. */
function texConverter(deadline: number): TexConverter {
  const known = new Map<string, string>();
  let toMathml: TexConverter | undefined;
  return (tex, display) => {
    const convert = (toMathml ??= loadTexConverter());
    const key = `${display}:${tex}`;
    const mathml = known.get(key) ?? withTimeout(() => convert(tex, display), deadline);
    known.set(key, mathml);
    return mathml;
  };
}

const context = createContext({ run: () => undefined });

/**
 * Runs a synchronous function with a time limit, which also ends a regular expression that backtracks.
 *
 * @param deadline the end of the lesson's time, in milliseconds since 1970
 * @throws {TooSlow} after that time
 */
function withTimeout(run: () => string, deadline: number): string {
  const timeoutMs = Math.min(blockTimeoutMs, deadline - Date.now());
  if (timeoutMs <= 0) throw new TooSlow('is not converted, because the lesson takes too long to convert');
  let result = '';
  context.run = () => {
    result = run();
  };
  try {
    runInContext('run()', context, { timeout: Math.ceil(timeoutMs) });
  } catch (error) {
    if (codeOf(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new TooSlow('takes too long to convert');
    throw error;
  }
  return result;
}

/** The time of some languages' grammars grows with the square of such a gap. */
const longGap = /\s{1000}/;

/**
 * Returns a source without the line breaks at its end. Each run of line breaks would be the start of a match of a regular
 * expression, whose time would grow with the square of the source.
 */
function withoutEmptyLines(source: string): string {
  let end = source.length;
  while (source[end - 1] === '\n') end -= 1;
  return source.slice(0, end);
}

/** The used part of highlight.js. Its own types would add browser types to the whole project. */
interface Highlighter {
  getLanguage(this: void, name: string): unknown;
  highlight(
    this: void,
    code: string,
    options: { language: string; ignoreIllegals: boolean },
  ): { value: string };
}

function highlighting(deadline: number): Conversion {
  let highlighter: Highlighter | undefined;
  return {
    from: 'code',
    to: 'highlighted',
    convert(source, { language }) {
      if (typeof language !== 'string' || language === '') return '';
      const { getLanguage, highlight } = (highlighter ??= createRequire(import.meta.url)(
        'highlight.js/lib/common',
      ) as Highlighter);
      if (getLanguage(language) === undefined) throw new Error(`the language ${quote(language)} is unknown`);
      if (longGap.test(source)) throw new Error('it has 1,000 spaces or line breaks in a row');
      const code = withoutEmptyLines(source);
      return withTimeout(() => highlight(code, { language, ignoreIllegals: true }).value, deadline);
    },
    failure: 'is not highlighted',
  };
}
