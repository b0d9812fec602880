import type { DefaultTreeAdapterTypes } from 'parse5';
import { wordsOf } from '../questions/question-blocks.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { htmlOf, importedNodes, valueOf } from '../qti/imported-html.ts';
import type { HtmlFiles } from '../qti/imported-html.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

const containers = new Set([
  'div',
  'section',
  'article',
  'main',
  'header',
  'footer',
  'body',
  'center',
  'form',
]);

/** Makes blocks of a page: its headings, pictures, videos and recordings, and the texts between them. */
export function pageBlocks(html: string, files: HtmlFiles): ConvertedBlock[] {
  const blocks: ConvertedBlock[] = [];
  let text: Node[] = [];
  const close = () => {
    const shown = htmlOf(text).trim();
    if (wordsOf(shown) !== '' || /<(?:img|hr|math)\b/.test(shown)) {
      blocks.push({ type: 'Text', props: { html: shown } });
    }
    text = [];
  };
  const walk = (nodes: readonly Node[]) => {
    for (const node of nodes) {
      const block = blockOf(node);
      if (block !== null) {
        close();
        blocks.push(block);
      } else if ('tagName' in node && containers.has(node.tagName) && hasBlock(node)) walk(node.childNodes);
      else text.push(node);
    }
  };
  walk(importedNodes(html, files));
  close();
  return blocks;
}

function hasBlock(element: Element): boolean {
  return element.childNodes.some(
    (child) =>
      blockOf(child) !== null || ('tagName' in child && containers.has(child.tagName) && hasBlock(child)),
  );
}

/** Returns the block of an element that is one by itself. */
function blockOf(node: Node): ConvertedBlock | null {
  if (!('tagName' in node)) return null;
  const { tagName } = node;
  if (/^h[1-6]$/.test(tagName)) return headingOf(node);
  if (tagName === 'video' || tagName === 'audio') return playerOf(node, tagName);
  if (tagName === 'img') return imageOf(node);
  const content = node.childNodes.filter((child) => !('value' in child) || child.value.trim() !== '');
  const [only] = content;
  if (content.length !== 1 || only === undefined || !('tagName' in only)) return null;
  const isWrapper = /^(?:p|figure|div|span|center)$/.test(tagName);
  return isWrapper && /^(?:img|video|audio|p|figure|span)$/.test(only.tagName) ? blockOf(only) : null;
}

function headingOf(element: Element): ConvertedBlock | null {
  const html = htmlOf([...element.childNodes]);
  const text = wordsOf(html);
  if (text === '' || /<(?:img|a|math|br)\b/.test(html)) return null;
  // The title of the step is above.
  return { type: 'Heading', props: { text, level: Math.max(2, Number(element.tagName.slice(1))) } };
}

function imageOf(element: Element): ConvertedBlock | null {
  const src = valueOf(element, 'src') ?? '';
  const isSmall = Number(valueOf(element, 'width') ?? 200) < 64;
  if (src === '' || isSmall) return null;
  return { type: 'Image', props: { src, alt: valueOf(element, 'alt') ?? '' } };
}

function playerOf(element: Element, kind: 'video' | 'audio'): ConvertedBlock | null {
  const source = element.childNodes.find((child) => 'tagName' in child && child.tagName === 'source');
  const src =
    valueOf(element, 'src') ?? (source !== undefined && 'tagName' in source ? valueOf(source, 'src') : '');
  if (src === undefined || src === '') return null;
  return { type: kind === 'video' ? 'Video' : 'Audio', props: { src } };
}
