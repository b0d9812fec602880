import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../shell/text.ts';
import type { HtmlNode } from './rich-text/html-tree.ts';
import { isElement, parseInBrowser } from './rich-text/html-tree.ts';

const options = { throwOnError: true, trust: false, maxExpand: 1_000, maxSize: [50, 50] as [number, number] };

/**
 * Shows TeX as a formula. Temml loads at the first one.
 *
 * @returns what is wrong with the TeX; undefined if nothing is
 */
export async function showFormula(
  holder: HTMLElement,
  tex: string,
  display: boolean,
): Promise<string | undefined> {
  const { default: temml } = await import('temml');
  try {
    const mathml = temml.renderToString(tex, { ...options, displayMode: display });
    holder.replaceChildren(...parseInBrowser(mathml).map(nodeOf));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll('\u0332', '') : String(error);
  }
}

/** Makes a node of Temml's MathML. The console's policy allows styles only as properties. */
function nodeOf(tree: HtmlNode): Node {
  if (!isElement(tree)) return document.createTextNode(typeof tree === 'string' ? tree : '');
  const node = document.createElementNS('http://www.w3.org/1998/Math/MathML', tree.tag);
  const { style, ...attributes } = tree.attributes;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (style !== undefined) node.style.cssText = style;
  node.append(...tree.children.map(nodeOf));
  return node;
}

/** The formula that a field's TeX makes, while it is written. */
export function FormulaPreview({ tex, display }: { tex: string; display: boolean }): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    if (holder.current !== null && tex.trim() !== '')
      void showFormula(holder.current, tex, display).then((found) => {
        if (isCurrent) setFault(found);
      });
    else holder.current?.replaceChildren();
    return () => {
      isCurrent = false;
    };
  }, [tex, display]);
  return (
    <div class="formula-preview" aria-live="polite">
      <div ref={holder} aria-label={t('editor.form.formula_preview')} role="group" />
      {fault !== undefined && tex.trim() !== '' && <p class="error">{fault}</p>}
    </div>
  );
}
