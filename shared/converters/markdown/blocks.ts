import type { Blockquote, Heading, Nodes, Paragraph, PhrasingContent, RootContent } from 'mdast';
import type { ContainerDirective, LeafDirective } from 'mdast-util-directive';
import { toString } from 'mdast-util-to-string';
import { parse } from 'yaml';
import { isRecord, recordOf } from '../../lessons/json-values.ts';
import { messageOf } from '../../platform/errors.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { fieldsOf, propsOf } from './attributes.ts';
import { directiveBlock, isQuestionDirective } from './directives.ts';
import { parseAttributes } from './parse.ts';
import { gapQuestion, hasGap, isChoiceList, multipleChoice } from './questions.ts';
import type { TextFile } from './text-file.ts';

/** Directives that belong to the block before them, with the prop that they are. */
const partProps = new Map(
  Object.entries({
    ...{ prompt: 'prompt', explanation: 'explanation', hint: 'hint', caption: 'caption' },
    ...{ transcript: 'transcript', 'sample-answer': 'sampleAnswer', source: 'source' },
  }),
);
const feedbackParts = new Set(['right', 'partly', 'wrong']);

/** Reads the blocks of a step, or of a block that has others. */
export class BlockReader {
  readonly #file: TextFile;
  #blocks: { block: ConvertedBlock; node: Nodes }[] = [];
  #text: RootContent[] = [];

  constructor(file: TextFile) {
    this.#file = file;
  }

  read(nodes: readonly RootContent[]): ConvertedBlock[] {
    for (let at = 0; at < nodes.length; at += 1) {
      const node = nodes[at];
      if (node === undefined || isIgnored(node)) continue;
      const next = nodes.slice(at + 1).find((one) => !isIgnored(one));
      if (node.type === 'heading' && next !== undefined && this.#isQuestion(next)) {
        const prompt = this.#file.html([{ type: 'paragraph', children: node.children }], node);
        at = nodes.indexOf(next, at);
        this.#add(next, this.#blockOf(next), { prompt });
      } else this.#readNode(node);
    }
    this.#flush();
    for (const { block, node } of this.#blocks) this.#check(block, node);
    return this.#blocks.map(({ block }) => block);
  }

  #readNode(node: RootContent): void {
    const attributes = node.type === 'paragraph' ? parseAttributes(this.#file.sourceOf(node)) : null;
    if (attributes !== null) {
      this.#flush();
      const last = this.#blocks.at(-1);
      if (last === undefined) this.#file.fault(node, 'attributes belong after a block');
      else
        Object.assign(last.block.props, propsOf(last.block.type, attributes, this.#file.attributesAt(node)));
    } else if (isPart(node)) {
      this.#flush();
      const last = this.#blocks.at(-1);
      if (last === undefined) this.#file.fault(node, `:::${node.name} belongs after a block`);
      else this.addPart(last.block, node);
    } else {
      const block = this.#blockOf(node);
      if (block !== null) this.#add(node, block);
      // Without a block, a directive has a fault.
      else if (!isDirective(node)) this.#text.push(node);
    }
  }

  /** Adds a text of a question, such as its explanation. */
  addPart({ type, props }: ConvertedBlock, node: ContainerDirective): void {
    const html = this.#file.html(node.children, node);
    const fields = fieldsOf(type);
    const name = feedbackParts.has(node.name) ? 'feedback' : partProps.get(node.name);
    if (name === undefined || fields[name] === undefined) {
      this.#file.fault(node, `${type} has no ${node.name}`);
    } else if (name === 'feedback') props.feedback = { ...recordOf(props.feedback), [node.name]: html };
    else props[name] = html;
  }

  #add(node: Nodes, block: ConvertedBlock | null, props: object = {}): void {
    this.#flush();
    if (block === null) return;
    block.props = { ...props, ...block.props };
    this.#blocks.push({ block, node });
    this.#file.report(node, block);
  }

  /** Ends a run of texts, which is one block. */
  #flush(): void {
    const [first] = this.#text;
    if (first === undefined) return;
    const nodes = this.#text;
    this.#text = [];
    this.#add(first, { type: 'Text', props: { html: this.#file.html(nodes, first) } });
  }

  #isQuestion(node: RootContent): boolean {
    return isChoiceList(node) || hasGap(node, this.#file) || isQuestionDirective(node);
  }

  /** Returns the block of a node; null for a part of a text. */
  #blockOf(node: RootContent): ConvertedBlock | null {
    const file = this.#file;
    if (node.type === 'heading') return this.#heading(node);
    if (node.type === 'thematicBreak') return { type: 'Divider', props: {} };
    if (node.type === 'code') return this.#code(node);
    if (node.type === 'math') return { type: 'Math', props: { latex: node.value } };
    if (node.type === 'blockquote') return this.#quotation(node);
    if (isChoiceList(node)) return multipleChoice(node, file);
    if (node.type === 'paragraph') {
      return hasGap(node, file) ? gapQuestion([node], file, node) : this.#picture(node);
    }
    return isDirective(node) ? this.#directive(node) : null;
  }

  #heading(node: Heading): ConvertedBlock {
    if (node.depth < 3) this.#file.fault(node, 'a section or a step cannot begin inside a block');
    return { type: 'Heading', props: { text: plainText(node.children, this.#file), level: node.depth - 1 } };
  }

  #picture(node: Paragraph): ConvertedBlock | null {
    const [image, ...others] = node.children;
    if (image?.type !== 'image' || others.length > 0) return null;
    const { toHtml } = this.#file.attributesAt(node);
    const caption = image.title === null || image.title === undefined ? {} : { caption: toHtml(image.title) };
    return {
      type: 'Image',
      props: { src: this.#file.media(image.url, node), alt: image.alt ?? '', ...caption },
    };
  }

  /** A quotation, or a callout that begins with `[!TIP] Title`. */
  #quotation(node: Blockquote): ConvertedBlock {
    const [first, ...rest] = node.children;
    const [text, ...inline] = first?.type === 'paragraph' ? first.children : [];
    const found = text?.type === 'text' ? /^\[!(\w+)\][ \t]*([^\n]*)\n?/.exec(text.value) : null;
    const kind = calloutKinds.get(found?.[1]?.toLowerCase() ?? '');
    if (found === null || kind === undefined || text?.type !== 'text' || first?.type !== 'paragraph') {
      return { type: 'Quote', props: { html: this.#file.html(node.children, node) } };
    }
    const remaining = text.value.slice(found[0].length);
    const children = remaining === '' ? inline : [{ ...text, value: remaining }, ...inline];
    const body = new BlockReader(this.#file).read(
      children.length === 0 ? rest : [{ ...first, children }, ...rest],
    );
    const title = found[2]?.trim() ?? '';
    return { type: 'Callout', props: { kind, ...(title !== '' && { title }), body } };
  }

  #code(node: RootContent & { type: 'code' }): ConvertedBlock {
    if (node.lang === 'widget') return this.#widget(node);
    return {
      type: 'Code',
      props: {
        code: node.value,
        ...(node.lang !== null && node.lang !== undefined && { language: node.lang }),
      },
    };
  }

  /** Any widget, with its props as YAML or JSON. */
  #widget(node: RootContent & { type: 'code' }): ConvertedBlock {
    const type = node.meta?.trim() ?? '';
    if (type === '') this.#file.fault(node, 'name the widget after ```widget');
    try {
      const props: unknown = parse(node.value, { maxAliasCount: 10 }) ?? {};
      if (isRecord(props)) return { type, props: recordOf(withFiles(props, this.#file, node)) };
      this.#file.fault(node, 'the props of a widget must be a mapping, such as "zoom: 3"');
    } catch (error) {
      this.#file.fault(node, `is not YAML: ${messageOf(error).split('\n')[0] ?? ''}`);
    }
    return { type, props: {} };
  }

  #directive(node: LeafDirective | ContainerDirective): ConvertedBlock | null {
    const parts = node.type === 'containerDirective' ? node.children.filter(isPart) : [];
    const children = node.children.filter((child) => !parts.includes(child as ContainerDirective));
    const block = directiveBlock({ ...node, children } as ContainerDirective, this.#file, (nodes) =>
      new BlockReader(this.#file).read(nodes),
    );
    if (block !== null) for (const part of parts) this.addPart(block, part);
    return block;
  }

  #check({ type, props }: ConvertedBlock, node: Nodes): void {
    if (type !== 'MultipleChoice' || props.points === 0 || !Array.isArray(props.correct)) return;
    if (props.correct.length === 0) {
      this.#file.fault(node, 'no choice is marked as right; write [x] before it, or {points=0} for no score');
    }
  }
}

const calloutKinds = new Map(
  Object.entries({
    ...{ note: 'note', tip: 'tip', warning: 'warning', example: 'example' },
    // GitHub has these, too.
    ...{ important: 'note', caution: 'warning' },
  }),
);

/** Comments, and definitions, which belong to the whole file. */
function isIgnored(node: RootContent): boolean {
  if (node.type === 'html') return /^\s*<!--(?:(?!-->).)*-->\s*$/s.test(node.value);
  return node.type === 'definition' || node.type === 'footnoteDefinition' || node.type === 'yaml';
}

function isDirective(node: RootContent): node is LeafDirective | ContainerDirective {
  return node.type === 'leafDirective' || node.type === 'containerDirective';
}

function isPart(node: Nodes): node is ContainerDirective {
  if (node.type !== 'containerDirective') return false;
  return feedbackParts.has(node.name) || partProps.has(node.name);
}

/** Returns a text without formatting; formulas keep their dollar signs. */
export function plainText(children: readonly PhrasingContent[], file: TextFile): string {
  return children.map((node) => (node.type === 'inlineMath' ? file.sourceOf(node) : toString(node))).join('');
}

/** Replaces texts that are paths of files. */
function withFiles(value: unknown, file: TextFile, node: Nodes): unknown {
  if (typeof value === 'string')
    return /^\.{0,2}\/?media\/\S+$/.test(value) ? file.media(value, node) : value;
  if (Array.isArray(value)) return value.map((one: unknown) => withFiles(one, file, node));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withFiles(one, file, node)]));
}
