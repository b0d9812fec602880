import { html as html5, parseFragment, serializeOuter } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';
import { edited, ElementCount, parseHtml } from '../../lessons/html-media.ts';
import type { Edit } from '../../lessons/html-media.ts';
import { quote } from '../../lessons/json-values.ts';
import { messageOf } from '../../platform/errors.ts';
import { toMathmlCore } from './mathml-core.ts';
import { texIn } from './tex-in-text.ts';
import type { TexConverter } from './tex-to-mathml.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

export interface ConvertedText {
  text: string;
  /** Reasons why formulas could not be converted; these are unchanged. */
  faults: string[];
}

/** Elements whose text is shown as written, or is no text. */
const verbatim = new Set([
  'code',
  'pre',
  'kbd',
  'samp',
  'tt',
  'script',
  'style',
  'textarea',
  'select',
  'svg',
  'template',
]);

const mayHaveTex = /\$|\\[([]/;
const mayHaveMathml = /<(?:\w+:)?math[\s>]/i;
/** The tags of MathML in XML with a prefix, which HTML does not know. */
const prefixedTags = /<(\/?)(?:m|mml|math|mathml):(?=[a-z])/gi;

/**
 * Converts the formulas of an HTML text to MathML for browsers: TeX between delimiters, and MathML 3. Keeps everything
 * else byte for byte. The result does not change when it is converted again.
 *
 * @param toMathml null if TeX stays text
 * @throws {LecternError} INVALID_CONTENT for HTML with too many or too deep elements
 */
export function convertFormulasInHtml(
  html: string,
  toMathml: TexConverter | null,
  elements = new ElementCount(),
): ConvertedText {
  const hasMathml = mayHaveMathml.test(html);
  if (!hasMathml && (toMathml === null || !mayHaveTex.test(html))) return { text: html, faults: [] };
  const prefixed = hasMathml ? html.replace(prefixedTags, '<$1') : html;
  const source = toMathml === null ? prefixed : withoutFalseTags(prefixed);
  const edits: Edit[] = [];
  const faults: string[] = [];
  const pending: Node[] = [parseHtml(source, elements)];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if ('tagName' in node && node.namespaceURI === html5.NS.MATHML) {
      const converted = coreOf(node);
      edits.push(...converted.edits);
      faults.push(...converted.faults);
    } else if ('value' in node && toMathml !== null) {
      const converted = texOf(node, source, toMathml);
      edits.push(...converted.edits);
      faults.push(...converted.faults);
    } else if ('childNodes' in node && !verbatim.has(node.nodeName)) {
      pending.push(...node.childNodes.toReversed());
    }
  }
  return { text: edited(source, edits), faults };
}

/** Escapes `<` in TeX such as `$a<b$`, where a parser would see the beginning of a tag. */
function withoutFalseTags(html: string): string {
  if (!html.includes('<')) return html;
  const edits = texIn(html).flatMap(({ start, end, tex }): Edit[] => {
    // The tags of a text that only looks like TeX have an end or an attribute.
    const isTex = tex !== null && tex.includes('<') && !/[>"']/.test(tex);
    return isTex ? [{ start, end, text: html.slice(start, end).replaceAll('<', '&lt;') }] : [];
  });
  return edited(html, edits);
}

/** Converts the TeX in a text without markup. Formulas are `math` elements in the result. */
export function convertFormulasInText(text: string, toMathml: TexConverter): ConvertedText {
  const { edits, faults } = texEdits(text, (part) => part, toMathml, '$');
  const converted = edited(text, edits);
  // Without its backslash, a dollar sign must not begin a formula at the next import.
  const isStable = texIn(converted.replaceAll(/<math[ >].*?<\/math>/gs, '')).length === 0;
  return {
    text: isStable
      ? converted
      : edited(
          text,
          edits.filter((edit) => edit.text !== '$'),
        ),
    faults,
  };
}

interface Conversion {
  edits: Edit[];
  faults: string[];
}

function coreOf(math: Element): Conversion {
  const { sourceCodeLocation: place, attrs } = math;
  // Temml's MathML is for browsers already.
  if (!place || math.tagName !== 'math' || attrs.some(({ name }) => name === 'data-tex')) {
    return { edits: [], faults: [] };
  }
  const before = serializeOuter(math);
  const faults = toMathmlCore(math);
  const text = serializeOuter(math);
  const edits = text === before ? [] : [{ start: place.startOffset, end: place.endOffset, text }];
  return { edits, faults };
}

function texOf(
  { value, sourceCodeLocation: place }: DefaultTreeAdapterTypes.TextNode,
  html: string,
  toMathml: TexConverter,
): Conversion {
  if (!place || !mayHaveTex.test(value)) return { edits: [], faults: [] };
  const written = html.slice(place.startOffset, place.endOffset);
  // The parser has joined texts around misplaced tags.
  if (decodeReferences(written) !== value) return { edits: [], faults: [] };
  // As a reference, a dollar sign that was escaped stays text at the next import.
  const { edits, faults } = texEdits(written, decodeReferences, toMathml, '&#36;');
  const offset = place.startOffset;
  return {
    edits: edits.map((edit) => ({ ...edit, start: edit.start + offset, end: edit.end + offset })),
    faults,
  };
}

function texEdits(
  text: string,
  decoded: (part: string) => string,
  toMathml: TexConverter,
  dollar: string,
): Conversion {
  const edits: Edit[] = [];
  const faults: string[] = [];
  for (const { start, end, tex, display } of texIn(text, decoded)) {
    try {
      edits.push({ start, end, text: tex === null ? dollar : toMathml(tex, display) });
    } catch (error) {
      edits.push({ start, end, text: text.slice(start, end) });
      faults.push(`${quote(text.slice(start, end), 100)} ${messageOf(error).trim()}`);
    }
  }
  const rest = edited(
    text,
    edits.map((edit) => ({ ...edit, text: '' })),
  );
  const open = /(?<!\\)\\[([]/.exec(rest);
  if (open !== null)
    faults.push(`${quote(rest.slice(open.index), 60)} begins a formula that does not end in the same text`);
  return { edits, faults };
}

function decodeReferences(text: string): string {
  if (!text.includes('&')) return text.replaceAll(/\r\n?/g, '\n');
  const [node] = parseFragment(text).childNodes;
  return node !== undefined && 'value' in node ? node.value : text;
}
