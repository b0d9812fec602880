import { createRequire } from 'node:module';
import escapeHtml from 'escape-html';
import type Temml from 'temml';
import { messageOf } from '../../platform/errors.ts';

const options = {
  throwOnError: true,
  trust: false,
  maxExpand: 1_000,
  maxSize: [50, 50] as [number, number],
  // Lines may break after operators. Temml breaks only inline formulas.
  wrap: 'tex' as const,
};

/** An operator name of several letters. Temml makes them elements of their own, which HTML parsers take out. */
const nestedLetters = /<mo([^<>]*)>((?:<m[ion](?: [^<>]*)?>[^<]*<\/m[ion]>)+)<\/mo>/g;

/** Converts the TeX of a formula to MathML; throws for TeX with a fault. */
export type TexConverter = (tex: string, display: boolean) => string;

/**
 * Loads Temml, and returns a converter. Its MathML has the TeX in the attribute `data-tex`, so that an export still has
 * the source.
 */
export function loadTexConverter(): TexConverter {
  const temml = createRequire(import.meta.url)('temml') as typeof Temml;
  return (tex, display) => {
    const mathml = inOneLine(() => temml.renderToString(tex, { ...options, displayMode: display }));
    if (/ class="tml-(?:eq)?ref/.test(mathml)) throw new Error('\\ref and \\eqref are not supported');
    return mathml
      .replaceAll(
        nestedLetters,
        (_operator, attributes: string, letters: string) =>
          // The name has no tags but those of its letters.
          `<mo${attributes}>${letters.replaceAll(/<[^<>]*>/g, '')}</mo>`,
      )
      .replace(/^<math/, () => `<math data-tex="${attributeText(tex)}"`);
  };
}

/** Runs Temml, whose messages underline a part of the TeX with combining characters in a separate line. */
function inOneLine(render: () => string): string {
  try {
    return render();
  } catch (error) {
    const message = messageOf(error).replaceAll('\u0332', '').replaceAll(/\s+/g, ' ');
    throw new Error(message, { cause: error });
  }
}

/** Escapes TeX. Its brackets and braces must not look like gaps or variables of the text around it. */
function attributeText(tex: string): string {
  return escapeHtml(tex).replaceAll('[[', '&#91;[').replaceAll('{{', '&#123;{');
}
