import { lessonBlocks } from '../../lessons/blocks.ts';
import { recordOf } from '../../lessons/json-values.ts';
import type { LessonContent } from '../../lessons/lesson-content.ts';
import { textOf } from '../../lessons/scoring/scoring.ts';
import { wordsOf } from '../questions/question-blocks.ts';
import { itemWriters } from './write-item.ts';
import type { ItemParts } from './write-item.ts';
import { escapeText, toXhtml } from './xhtml.ts';

/** A text file of a QTI package. */
export interface QtiFile {
  path: string;
  text: string;
}

const namespace = 'http://www.imsglobal.org/xsd/imsqtiasi_v3p0';

interface WrittenItem extends QtiFile {
  id: string;
  section: string;
}

/**
 * Writes the questions of a lesson as a QTI 3.0 package: an item for each, and a test whose sections are those of the
 * lesson.
 *
 * @param content whose media have paths below `../media/`
 */
export function writeQti(content: LessonContent): { files: QtiFile[]; losses: string[] } {
  const losses: string[] = [];
  const { title } = content.lesson;
  const language = content.lesson.language ?? 'en';
  const items: WrittenItem[] = [];
  for (const { block, section } of lessonBlocks(content)) {
    const { type = '' } = block;
    const write = Object.hasOwn(itemWriters, type) ? itemWriters[type] : undefined;
    const parts = write?.(block.props, language) ?? null;
    if (parts === null) continue;
    losses.push(...parts.losses.map((loss) => `${loss} of ${type} ${block.props.id}`));
    const id = `item-${items.length + 1}`;
    const text = itemXml(id, block.props, parts, language);
    items.push({ id, path: `items/${id}.xml`, text, section: section.title });
  }
  const test = { path: 'test.xml', text: testXml(title, items) };
  const manifest = { path: 'imsmanifest.xml', text: manifestXml(title, language, items) };
  return { files: [manifest, test, ...items.map(({ path, text }) => ({ path, text }))], losses };
}

function itemXml(id: string, props: Record<string, unknown>, parts: ItemParts, language: string): string {
  const { declarations, body, score, points } = parts;
  const prompt = toXhtml(textOf(props.prompt));
  const title = wordsOf(textOf(props.prompt) || textOf(props.text)).slice(0, 100) || id;
  const feedbacks = feedbackOf(props);
  const isScored = score !== null;
  const shows = isScored && feedbacks.length > 0 ? feedbackRules(points) : '';
  const chosen = body.includes('outcome-identifier="CHOSEN"');
  const cardinality = declarations.includes('"RESPONSE" cardinality="single"') ? 'single' : 'multiple';
  const processing = `${score ?? ''}${shows}${chosen ? setOutcome('CHOSEN', '<qti-variable identifier="RESPONSE"/>') : ''}`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<qti-assessment-item xmlns="${namespace}" identifier="${id}" title="${escapeText(title)}" adaptive="false" time-dependent="false" xml:lang="${escapeText(language)}">
${declarations}<qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"${isScored ? ` normal-maximum="${points}"` : ''}><qti-default-value><qti-value>0</qti-value></qti-default-value></qti-outcome-declaration>
${isScored ? `<qti-outcome-declaration identifier="MAXSCORE" cardinality="single" base-type="float"><qti-default-value><qti-value>${points}</qti-value></qti-default-value></qti-outcome-declaration>\n` : ''}${shows === '' ? '' : '<qti-outcome-declaration identifier="FEEDBACK" cardinality="single" base-type="identifier"/>\n'}${chosen ? `<qti-outcome-declaration identifier="CHOSEN" cardinality="${cardinality}" base-type="identifier"/>\n` : ''}<qti-item-body>
${prompt === '' ? '' : `<div>${prompt}</div>\n`}${body}
</qti-item-body>
${processing === '' ? '' : `<qti-response-processing>${processing}</qti-response-processing>\n`}${shows === '' ? '' : feedbacks.map(([identifier, html]) => modal(identifier, html)).join('')}</qti-assessment-item>
`;
}

/** Returns the feedback of a question, by the result that shows it. */
function feedbackOf(props: Record<string, unknown>): [string, string][] {
  const { right, partly, wrong } = recordOf(props.feedback);
  const explanation = textOf(props.explanation);
  const texts = { right, partly, wrong };
  return Object.entries(texts).flatMap(([name, html]) => {
    const shown = textOf(html) + explanation;
    return shown.trim() === '' ? [] : [[name, shown] satisfies [string, string]];
  });
}

function feedbackRules(points: number): string {
  const isAtLeast = (value: number) =>
    `<qti-gte><qti-variable identifier="SCORE"/><qti-base-value base-type="float">${value}</qti-base-value></qti-gte>`;
  const isPartly =
    '<qti-gt><qti-variable identifier="SCORE"/><qti-base-value base-type="float">0</qti-base-value></qti-gt>';
  const set = (identifier: string) =>
    setOutcome('FEEDBACK', `<qti-base-value base-type="identifier">${identifier}</qti-base-value>`);
  return (
    `<qti-response-condition><qti-response-if>${isAtLeast(points - points * 1e-9)}${set('right')}</qti-response-if>` +
    `<qti-response-else-if>${isPartly}${set('partly')}</qti-response-else-if>` +
    `<qti-response-else>${set('wrong')}</qti-response-else></qti-response-condition>`
  );
}

function setOutcome(identifier: string, expression: string): string {
  return `<qti-set-outcome-value identifier="${identifier}">${expression}</qti-set-outcome-value>`;
}

function modal(identifier: string, html: string): string {
  return `<qti-modal-feedback outcome-identifier="FEEDBACK" identifier="${identifier}" show-hide="show"><qti-content-body><div>${toXhtml(html)}</div></qti-content-body></qti-modal-feedback>\n`;
}

function testXml(title: string, items: readonly WrittenItem[]): string {
  const sections = new Map<string, WrittenItem[]>();
  for (const item of items) sections.set(item.section, [...(sections.get(item.section) ?? []), item]);
  const written = [...sections].map(
    ([name, own], index) =>
      `<qti-assessment-section identifier="section-${index + 1}" title="${escapeText(name)}" visible="true">\n` +
      own.map(({ id, path }) => `<qti-assessment-item-ref identifier="${id}" href="${path}"/>\n`).join('') +
      '</qti-assessment-section>\n',
  );
  const total = setOutcome('SCORE', '<qti-sum><qti-test-variables variable-identifier="SCORE"/></qti-sum>');
  return `<?xml version="1.0" encoding="UTF-8"?>
<qti-assessment-test xmlns="${namespace}" identifier="test" title="${escapeText(title)}">
<qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
<qti-test-part identifier="part" navigation-mode="nonlinear" submission-mode="individual">
${written.join('')}</qti-test-part>
<qti-outcome-processing>${total}</qti-outcome-processing>
</qti-assessment-test>
`;
}

function manifestXml(title: string, language: string, items: readonly WrittenItem[]): string {
  const resource = (
    id: string,
    type: string,
    path: string,
    files: readonly string[],
    dependencies: readonly string[],
  ) =>
    `    <resource identifier="${id}" type="${type}" href="${path}">\n` +
    [path, ...files].map((file) => `      <file href="${escapeText(file)}"/>\n`).join('') +
    dependencies.map((dependency) => `      <dependency identifierref="${dependency}"/>\n`).join('') +
    '    </resource>\n';
  const written = items.map(({ id, path, text }) =>
    resource(`R-${id}`, 'imsqti_item_xmlv3p0', path, mediaIn(text), []),
  );
  const test = resource(
    'R-test',
    'imsqti_test_xmlv3p0',
    'test.xml',
    [],
    items.map(({ id }) => `R-${id}`),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<manifest xmlns="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1" xmlns:imsmd="http://ltsc.ieee.org/xsd/LOM" identifier="M-test">
  <metadata>
    <schema>QTI Package</schema>
    <schemaversion>3.0.0</schemaversion>
    <imsmd:lom><imsmd:general><imsmd:title><imsmd:string language="${escapeText(language)}">${escapeText(title)}</imsmd:string></imsmd:title></imsmd:general></imsmd:lom>
  </metadata>
  <organizations/>
  <resources>
${test}${written.join('')}  </resources>
</manifest>
`;
}

/** Returns the paths of the media that an item shows, from the top of the package. */
function mediaIn(text: string): string[] {
  return [...new Set([...text.matchAll(/"\.\.\/(media\/[^"]+)"/g)].map(([, path = '']) => path))];
}
