import { element, hintWhenWide } from './dom.ts';
import { message } from '../shared/i18n/message.ts';

const mathNamespace = 'http://www.w3.org/1998/Math/MathML';

const length = String.raw`\d{0,3}(?:\.\d+)?(?:em|ex|px|pt|%)|0`;
/** A shift to the left or up stays near its place, so that a formula covers nothing else. */
const shift = String.raw`-?\d?(?:\.\d+)?(?:em|ex)|-?\d{0,2}(?:\.\d+)?(?:px|pt)|${length}`;
const color = String.raw`[a-z]+|#[\da-f]{3,8}|rgba?\([\d\s.,/%]+\)`;

/** The style properties that MathML may have, and their values: what Temml writes, and import for MathML 3. */
const formulaStyles: [name: RegExp, value: RegExp][] = [
  [/^(?:background-)?color$/, whole(color)],
  [/^padding-(?:top|right|bottom|left)$/, whole(length)],
  [/^margin-left$/, whole(shift)],
  [/^(?:width|height)$/, whole(length)],
  [/^left$/, whole(String.raw`0?\.\d+em`)],
  [/^border-(?:top|right|bottom|left)-width$/, whole(`${length}|thin|medium|thick`)],
  [/^border-(?:top|right|bottom|left)-style$/, /^(?:none|solid|dashed|dotted|double)$/],
  [/^border-(?:top|right|bottom|left)-color$/, whole(color)],
  [/^border-(?:top|bottom)-(?:left|right)-radius$/, whole(length)],
  [/^font-(?:style|weight)$/, /^(?:normal|italic|bold)$/],
  [/^font-family$/, /^(?:serif|sans-serif|monospace|Cambria, ["']Times New Roman["'], serif)$/],
  [/^text-align$/, /^(?:left|right|center)$/],
  [/^vertical-align$/, /^(?:top|middle|bottom|baseline)$/],
  [/^math-depth$/, /^[0-9]$/],
  [/^display$/, /^flex$/],
  [/^justify-content$/, /^center$/],
  [/^transform$/, /^scaleX\(-1\)$/],
];

/** The attributes that move parts of a formula. */
const shifts = ['lspace', 'rspace', 'voffset', 'width', 'height', 'depth'];

/** A length that moves nothing far: Temml also writes widths as shifts. */
const harmlessShift = new RegExp(
  String.raw`^\s*(?:\+?[\d.]+[a-z%]*|-?\d?(?:\.\d+)?(?:em|ex)|-?\d{0,2}(?:\.\d+)?(?:px|pt)|-(?:0?\.5|1)width|[a-z]+)\s*$`,
  'i',
);

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`, 'i');
}

/** Whether an element is a part of a formula, which keeps other styles than HTML does. */
export function isMathml(node: Element): node is MathMLElement {
  return node.namespaceURI === mathNamespace;
}

/** Keeps the styles that draw a formula. None can load anything, or leave the place of the formula. */
export function keepFormulaStyles(node: MathMLElement): void {
  const { style } = node;
  const kept = [...style].flatMap((name): [string, string][] => {
    const value = style.getPropertyValue(name);
    const isKept = formulaStyles.some(([names, values]) => names.test(name) && values.test(value));
    return isKept ? [[name, value]] : [];
  });
  // Temml's overlapping parts; the parent is visited first, and has lost its style.
  const { position, right, bottom } = style;
  const parent = node.parentElement;
  node.removeAttribute('style');
  for (const [name, value] of kept) style.setProperty(name, value);
  if (position === 'relative' && node.localName === 'mpadded') node.classList.add('lectern-overlapped');
  if (position === 'absolute' && parseFloat(right) === 0 && parseFloat(bottom) === 0) {
    if (parent?.classList.contains('lectern-overlapped')) node.classList.add('lectern-overlapping');
  }
}

/**
 * Prepares a sanitized formula: parts stay near their places, and a holder around it scrolls if the formula is wider
 * than the text. The holder has the formula's direction, because it scrolls from the formula's beginning.
 */
export function holdFormula(formula: Element, language: string): void {
  for (const part of formula.querySelectorAll('mpadded, mspace, mo')) {
    for (const name of shifts) {
      if (!harmlessShift.test(part.getAttribute(name) ?? '0')) part.removeAttribute(name);
    }
  }
  const holder = element('span', {
    class: `lectern-mathml${formula.getAttribute('display') === 'block' ? ' lectern-is-block' : ''}`,
    dir: formula.getAttribute('dir')?.toLowerCase() === 'rtl' ? 'rtl' : 'ltr',
  });
  formula.replaceWith(holder);
  holder.append(formula);
  hintWhenWide(holder, message(language, 'widget.formula'));
}
