import { inAlphabet, isVariant, styleOf } from './math-alphabets.ts';
import { convertLongDivision, convertStack } from './mathml-stacks.ts';
import { convertTable } from './mathml-tables.ts';
import {
  addStyle,
  attribute,
  mathElement,
  parts,
  row,
  setAttribute,
  setChildren,
  takeAttribute,
  textOf,
} from './mathml-tree.ts';
import type { MathElement } from './mathml-tree.ts';

const tokens = new Set(['mi', 'mn', 'mo', 'ms', 'mtext']);

/** The elements that browsers draw. `menclose` has styles: player/styles/formula.css. */
const drawn = new Set([
  ...[
    'math',
    'menclose',
    'merror',
    'mfrac',
    'mi',
    'mmultiscripts',
    'mn',
    'mo',
    'mover',
    'mpadded',
    'mphantom',
  ],
  ...[
    'mprescripts',
    'mroot',
    'mrow',
    'ms',
    'mspace',
    'msqrt',
    'mstyle',
    'msub',
    'msubsup',
    'msup',
    'mtable',
    'mtd',
  ],
  ...['mtext', 'mtr', 'munder', 'munderover'],
]);

/** Elements without an effect on what is drawn here: marks for alignment within cells. */
const invisible = new Set(['maligngroup', 'malignmark']);

/** Lengths by their names in MathML 3. */
const namedSpaces: Record<string, number> = {
  veryverythin: 1 / 18,
  verythin: 2 / 18,
  thin: 3 / 18,
  medium: 4 / 18,
  thick: 5 / 18,
  verythick: 6 / 18,
  veryverythick: 7 / 18,
};

const sizes: Record<string, string> = { small: '75%', normal: '100%', big: '150%' };

/** Converts the elements of MathML 3 that MathML Core, which browsers draw, has no more. */
const converters: Record<string, (node: MathElement, problems: Set<string>) => MathElement> = {
  mfenced: convertFence,
  menclose: convertEnclosure,
  mfrac: convertFraction,
  mmultiscripts: convertScripts,
  mtable: convertTable,
  mstack: convertStack,
  mlongdiv: convertLongDivision,
  ms: quoteString,
  mglyph: (node, problems) => {
    const alt = attribute(node, 'alt');
    if (!alt) problems.add('the picture of an mglyph without alt');
    return alt ? mathElement('mtext', {}, [alt]) : node;
  },
};

/**
 * Converts MathML 3, as publishers write it, to MathML Core, which browsers draw. Changes the formula in place.
 *
 * @returns what cannot be converted, and is unchanged
 */
export function toMathmlCore(math: MathElement): string[] {
  const problems = new Set<string>();
  // MathML 1.
  if (takeAttribute(math, 'mode') === 'display') setAttribute(math, 'display', 'block');
  convert(math, undefined, problems);
  return [...problems].map((problem) => `has MathML that browsers do not draw: ${problem}`);
}

function convert(node: MathElement, inherited: string | undefined, problems: Set<string>): MathElement {
  const shown = shownPart(node);
  if (shown !== node) return convert(shown, inherited, problems);
  const variant = attribute(node, 'mathvariant') ?? inherited;
  if (tokens.has(node.tagName)) convertToken(node, variant, problems);
  else takeAttribute(node, 'mathvariant');
  const children = node.childNodes.flatMap((child): typeof node.childNodes => {
    if (!('tagName' in child)) return [child];
    if (invisible.has(child.tagName)) return [];
    // HTML in a token, such as a link.
    return [child.namespaceURI === node.namespaceURI ? convert(child, variant, problems) : child];
  });
  setChildren(node, children);
  convertLengths(node);
  const converted = converters[node.tagName]?.(node, problems) ?? node;
  const { tagName } = converted;
  if (!drawn.has(tagName) && !isPartOfParent(node)) problems.add(`<${tagName}>`);
  return converted;
}

/** Whether an element's parent converts it. */
function isPartOfParent({ tagName, parentNode }: MathElement): boolean {
  const parent = parentNode !== null && 'tagName' in parentNode ? parentNode.tagName : '';
  if (tagName === 'none') return ['mmultiscripts', 'mscarries', 'mscarry'].includes(parent);
  if (tagName === 'mlabeledtr') return parent === 'mtable';
  if (tagName === 'mglyph') return tokens.has(parent);
  const stacked = ['msrow', 'msgroup', 'msline', 'mscarries', 'mscarry'];
  return stacked.includes(tagName) && [...stacked, 'mstack', 'mlongdiv'].includes(parent);
}

/** Returns what an element with alternatives shows: presentation rather than content, and the selected action. */
function shownPart(node: MathElement): MathElement {
  const children = parts(node);
  const [first] = children;
  if (node.tagName === 'maction') {
    const isChoice = attribute(node, 'actiontype') === 'toggle';
    const selected = isChoice ? Number(attribute(node, 'selection') ?? '1') : 1;
    return children[selected - 1] ?? first ?? mathElement('mrow');
  }
  if (node.tagName !== 'semantics' || first === undefined) return node;
  const isPresentation = (part: MathElement) =>
    /^(?:MathML-Presentation|application\/mathml-presentation\+xml)$/i.test(
      attribute(part, 'encoding') ?? '',
    );
  const presentation = children.find(isPresentation);
  if (presentation === undefined || drawn.has(first.tagName) || first.tagName in converters) return first;
  return row(parts(presentation));
}

function convertToken(node: MathElement, given: string | undefined, problems: Set<string>): void {
  const text = textOf(node);
  const hasElements = node.childNodes.some((child) => 'tagName' in child);
  const trimmed = hasElements ? text : text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  if (trimmed !== text) setChildren(node, [trimmed]);
  const variant = given?.toLowerCase();
  if (variant === undefined) return;
  takeAttribute(node, 'mathvariant');
  if (!isVariant(variant)) {
    setAttribute(node, 'mathvariant', variant);
    problems.add(`mathvariant="${variant}"`);
    return;
  }
  const isSingle = node.tagName === 'mi' && [...trimmed].length === 1;
  // The only value that browsers know, and only for single letters, which are italic otherwise.
  if (variant === 'normal') {
    if (isSingle) setAttribute(node, 'mathvariant', variant);
    return;
  }
  if (variant === 'italic' && isSingle) return;
  // Words in prose stay words, for search and screen readers.
  const changed = node.tagName === 'mtext' || hasElements ? null : inAlphabet(trimmed, variant);
  if (changed === null) addStyle(node, styleOf(variant));
  else setChildren(node, [changed]);
}

function convertLengths(node: MathElement): void {
  for (const name of ['lspace', 'rspace', 'width', 'height', 'depth', 'voffset']) {
    const [, sign, space = ''] = /^(negative)?(\w+?)mathspace$/.exec(attribute(node, name) ?? '') ?? [];
    const length = namedSpaces[space];
    if (length !== undefined) setAttribute(node, name, `${sign ? '-' : ''}${length.toFixed(4)}em`);
  }
  const size = attribute(node, 'mathsize') ?? '';
  if (sizes[size] !== undefined) setAttribute(node, 'mathsize', sizes[size]);
  if (/^[\d.]+$/.test(size)) setAttribute(node, 'mathsize', `${Number(size) * 100}%`);
}

/** Returns the attributes that any element may have, to move them to another one. */
function commonAttributes(node: MathElement): Record<string, string | undefined> {
  const names = [
    'id',
    'class',
    'style',
    'dir',
    'mathcolor',
    'mathbackground',
    'mathsize',
    'displaystyle',
    'scriptlevel',
  ];
  return Object.fromEntries(names.map((name) => [name, attribute(node, name)]));
}

function convertFence(node: MathElement): MathElement {
  const children = parts(node);
  const separators = [...(attribute(node, 'separators') ?? ',').replaceAll(/\s/g, '')];
  const inner = children.flatMap((child, index) => {
    const separator = separators[Math.min(index, separators.length) - 1] ?? separators.at(-1);
    if (index === 0 || separator === undefined) return [child];
    return [mathElement('mo', { separator: 'true' }, [separator]), child];
  });
  const fence = (form: 'prefix' | 'postfix', text: string) =>
    text === '' ? [] : [mathElement('mo', { fence: 'true', form, stretchy: 'true' }, [text])];
  return mathElement('mrow', commonAttributes(node), [
    ...fence('prefix', attribute(node, 'open') ?? '('),
    ...(inner.length > 0 ? [row(inner)] : []),
    ...fence('postfix', attribute(node, 'close') ?? ')'),
  ]);
}

/** The lines of Temml's stylesheet across the content. */
const strikes: Record<string, string> = {
  updiagonalstrike: 'tml-cancel upstrike',
  downdiagonalstrike: 'tml-cancel downstrike',
  horizontalstrike: 'tml-cancel sout',
  verticalstrike: 'tml-cancel verticalstrike',
};

/** Enclosures with a class for the content, and one for a part that is drawn beside it. */
const shapes: Record<string, [content: string, part: string]> = {
  longdiv: ['longdiv-top', 'longdiv-arc'],
  phasorangle: ['phasor-bottom', 'phasor-angle'],
  circle: ['circle-pad', 'textcircle'],
};

const borders: Record<string, string[]> = {
  ...{ top: ['top'], bottom: ['bottom'], left: ['left'], right: ['right'] },
  box: ['top', 'right', 'bottom', 'left'],
  roundedbox: ['top', 'right', 'bottom', 'left'],
  actuarial: ['top', 'right'],
  madruwb: ['bottom', 'right'],
};

function convertEnclosure(node: MathElement, problems: Set<string>): MathElement {
  const classes = attribute(node, 'class') ?? '';
  const last = parts(node).at(-1);
  // It has been converted before, or comes from Temml.
  if (
    /^(?:tml-|actuarial)/.test(classes) ||
    /^(?:tml-cancel|longdiv-arc|phasor-|textcircle)/.test((last && attribute(last, 'class')) ?? '')
  )
    return node;
  const notations = new Set((attribute(node, 'notation') ?? 'longdiv').split(/\s+/).filter(Boolean));
  let content = row(parts(node));
  if (notations.delete('radical')) content = mathElement('msqrt', {}, [content]);
  for (const [notation, [contentClass, part]] of Object.entries(shapes)) {
    if (!notations.delete(notation)) continue;
    content = mathElement('menclose', { notation, class: contentClass }, [
      content,
      mathElement('mrow', { class: part }),
    ]);
  }
  const sides = new Set([...notations].flatMap((notation) => borders[notation] ?? []));
  if (sides.size > 0) {
    const lines = [...sides].map((side) => `border-${side}:0.067em solid;padding-${side}:0.2em;`);
    if (notations.has('roundedbox')) lines.push('border-radius:0.4em;');
    content = mathElement('mrow', { style: lines.join('') }, [content]);
  }
  for (const [notation, lineClass] of Object.entries(strikes)) {
    if (!notations.delete(notation)) continue;
    content = mathElement('menclose', { notation }, [content, mathElement('mrow', { class: lineClass })]);
  }
  const unknown = [...notations].filter((notation) => !(notation in borders));
  if (unknown.length > 0) problems.add(`<menclose notation="${unknown.join(' ')}">`);
  if (unknown.length > 0) content = mathElement('menclose', { notation: unknown.join(' ') }, [content]);
  const common = Object.entries(commonAttributes(node)).filter(([, value]) => value !== undefined);
  return common.length === 0 ? content : mathElement('mrow', Object.fromEntries(common), [content]);
}

const thicknesses: Record<string, string> = { thin: '0.03em', thick: '0.1em' };

function convertFraction(node: MathElement): MathElement {
  const thickness = attribute(node, 'linethickness') ?? '';
  if (thickness === 'medium') takeAttribute(node, 'linethickness');
  if (thicknesses[thickness] !== undefined) setAttribute(node, 'linethickness', thicknesses[thickness]);
  // A multiple of the normal thickness.
  if (/^[\d.]*[1-9][\d.]*$/.test(thickness))
    setAttribute(node, 'linethickness', `${Number(thickness) * 100}%`);
  if (takeAttribute(node, 'bevelled') !== 'true') return node;
  const [numerator, denominator] = parts(node);
  if (numerator === undefined || denominator === undefined) return node;
  const slash = mathElement('mo', { stretchy: 'true' }, ['/']);
  return mathElement('mrow', commonAttributes(node), [numerator, slash, denominator]);
}

/** Gives empty rows to missing scripts, so that each script stays in its place. */
function convertScripts(node: MathElement): MathElement {
  const [base, ...scripts] = parts(node);
  if (base === undefined) return node;
  const isPre = scripts.findIndex(({ tagName }) => tagName === 'mprescripts');
  const filled = (list: MathElement[]) => {
    const all = list.map((script) => (script.tagName === 'none' ? mathElement('mrow') : script));
    return all.length % 2 === 0 ? all : [...all, mathElement('mrow')];
  };
  const after = isPre < 0 ? scripts : scripts.slice(0, isPre);
  const before = isPre < 0 ? [] : [mathElement('mprescripts'), ...filled(scripts.slice(isPre + 1))];
  const hasNone = scripts.some(({ tagName }) => tagName === 'none');
  if (hasNone || after.length % 2 > 0 || before.length % 2 === 0)
    setChildren(node, [base, ...filled(after), ...before]);
  return node;
}

/** Writes the quotes of a string literal, which browsers do not draw. */
function quoteString(node: MathElement): MathElement {
  const [left, right] = [attribute(node, 'lquote') ?? '"', attribute(node, 'rquote') ?? '"'];
  return mathElement('mtext', commonAttributes(node), [left, ...node.childNodes, right]);
}
