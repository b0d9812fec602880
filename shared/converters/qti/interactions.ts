import { wordsOf } from '../questions/question-blocks.ts';
import { childOf, childrenOf } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { isInteraction, playedKind } from './item-body.ts';
import type { ItemBody } from './item-body.ts';
import { gapMark } from './item.ts';
import type { Choice, Interaction, InteractionType } from './item.ts';
import type { Response } from './values.ts';

const types: Record<string, InteractionType> = {
  choiceInteraction: 'choice',
  orderInteraction: 'order',
  matchInteraction: 'match',
  associateInteraction: 'associate',
  gapMatchInteraction: 'gapMatch',
  textEntryInteraction: 'textEntry',
  inlineChoiceInteraction: 'inlineChoice',
  extendedTextInteraction: 'extendedText',
  sliderInteraction: 'slider',
  hottextInteraction: 'hottext',
  mediaInteraction: 'media',
  uploadInteraction: 'upload',
};

/** Returns an interaction of QTI 2 or 3; null for any other element. */
export function readInteraction(
  element: XmlElement,
  { path, body, responses }: { path: string; body: ItemBody; responses: ReadonlyMap<string, Response> },
): Interaction | null {
  if (!isInteraction(element)) return null;
  const { name, attributes, children } = element;
  const response = responses.get(attributes.responseIdentifier ?? '');
  const type = types[name] ?? 'unsupported';
  const choice = (one: XmlElement): Choice => ({
    id: one.attributes.identifier ?? '',
    html: body.html(one.nodes).trim(),
  });
  const interaction: Interaction = {
    ...{ element: name, path: `${path}:${element.line}`, type, block: null },
    response: response?.id ?? attributes.responseIdentifier ?? '',
    prompt: body.html(childOf(element, 'prompt')?.nodes ?? []).trim(),
    choices: children.filter(({ name: child }) => /^(?:simpleChoice|inlineChoice)$/.test(child)).map(choice),
    ...{ targets: [], text: '', losses: new Set() },
    shuffle: attributes.shuffle === 'true',
    isSingle: response?.isSingle ?? attributes.maxChoices === '1',
    isNumber: response?.baseType === 'float' || response?.baseType === 'integer',
    correct: response?.correct ?? [],
    candidates: [...(response?.correct ?? []), ...(response?.mapping?.entries.map(({ key }) => key) ?? [])],
  };
  if (type === 'match') {
    const [sources, targets] = childrenOf(element, 'simpleMatchSet').map((set) =>
      childrenOf(set, 'simpleAssociableChoice').map(choice),
    );
    return { ...interaction, choices: sources ?? [], targets: targets ?? [] };
  }
  if (type === 'associate')
    return { ...interaction, choices: childrenOf(element, 'simpleAssociableChoice').map(choice) };
  if (type === 'gapMatch') return gapMatch(element, interaction, body);
  if (type === 'hottext') return hottext(element, interaction, body);
  if (type === 'media') return media(element, interaction, body);
  return interaction;
}

function gapMatch(element: XmlElement, interaction: Interaction, body: ItemBody): Interaction {
  const targets: Choice[] = [];
  const nodes = element.nodes.filter(
    (node) => typeof node === 'string' || !/^(?:prompt|gapText|gapImg)$/.test(node.name),
  );
  const text = body.html(nodes, (node) => {
    if (node.name !== 'gap') return null;
    return gapMark(targets.push({ id: node.attributes.identifier ?? '', html: '' }) - 1);
  });
  const choices = element.children.flatMap(({ name, attributes, nodes: inner }) =>
    name === 'gapText' || name === 'gapImg'
      ? { id: attributes.identifier ?? '', html: body.html(inner) }
      : [],
  );
  if (childOf(element, 'gapImg') !== undefined) interaction.losses.add('pictures cannot be put into gaps');
  return { ...interaction, choices, targets, text };
}

function hottext(element: XmlElement, interaction: Interaction, body: ItemBody): Interaction {
  const choices: Choice[] = [];
  const nodes = element.nodes.filter((node) => typeof node === 'string' || node.name !== 'prompt');
  const text = body.html(nodes, (node) => {
    if (node.name !== 'hottext') return null;
    const html = body.html(node.nodes);
    choices.push({ id: node.attributes.identifier ?? '', html: wordsOf(html) });
    return `<u>${html}</u>`;
  });
  return { ...interaction, choices, text };
}

function media(element: XmlElement, interaction: Interaction, body: ItemBody): Interaction {
  const played = element.children.find((child) => playedKind(child) !== null);
  const kind = played === undefined ? null : playedKind(played);
  const block = played !== undefined && kind !== null ? body.player(played, kind) : null;
  return { ...interaction, block };
}
