import { expect, test } from 'vitest';
import { scoringOf } from '../../shared/lessons/core-widgets.ts';
import { messageOfFailure } from '../packages/package-folder.ts';
import { writeArchive, zipBytes } from '../packages/zip-builder.ts';
import { convertFile, convertPath } from './convert.ts';
import type { ConvertedFile } from './convert.ts';

/** An item of QTI 2.1. */
function item(declarations: string, body: string, processing: string, more = ''): string {
  return `<?xml version="1.0"?><assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="i" title="Tides" adaptive="false" timeDependent="false">
${declarations}<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float"/><outcomeDeclaration identifier="FEEDBACK" cardinality="multiple" baseType="identifier"/>
<itemBody>${body}</itemBody>${processing}${more}</assessmentItem>`;
}

function declaration(
  cardinality: string,
  baseType: string,
  correct: readonly string[],
  mapping = '',
  id = 'RESPONSE',
) {
  const values = correct.map((value) => `<value>${value}</value>`).join('');
  return `<responseDeclaration identifier="${id}" cardinality="${cardinality}" baseType="${baseType}"><correctResponse>${values}</correctResponse>${mapping}</responseDeclaration>`;
}

const rules = 'http://www.imsglobal.org/question/qti_v2p1/rptemplates';
const matchCorrect = `<responseProcessing template="${rules}/match_correct"/>`;
const mapResponse = `<responseProcessing template="${rules}/map_response.xml"/>`;

/** Writes an item of QTI 2 with the names of QTI 3. */
function inQti3(xml: string): string {
  const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const html = /^(?:p|img|b|div)$/;
  return xml
    .replaceAll(/<(\/?)([a-zA-Z]+)([^>]*)>/g, (_tag, slash: string, name: string, attributes: string) => {
      const written = attributes.replaceAll(/([a-zA-Z]+)=/g, (_attribute, key: string) => `${kebab(key)}=`);
      return `<${slash}${html.test(name) ? name : `qti-${kebab(name)}`}${written}>`;
    })
    .replace('imsqti_v2p1', 'imsqtiasi_v3p0');
}

const choices = (...ids: string[]) =>
  ids.map((id) => `<simpleChoice identifier="${id}">Choice ${id}</simpleChoice>`).join('');

const mapping =
  '<mapping lowerBound="0" defaultValue="-1"><mapEntry mapKey="A" mappedValue="1"/><mapEntry mapKey="B" mappedValue="1"/></mapping>';

/** Sets the points if a condition holds. */
function condition(condition: string, points: number): string {
  const set = (value: number) =>
    `<setOutcomeValue identifier="SCORE"><baseValue baseType="float">${value}</baseValue></setOutcomeValue>`;
  return `<responseProcessing><responseCondition><responseIf>${condition}${set(points)}</responseIf><responseElse>${set(0)}</responseElse></responseCondition></responseProcessing>`;
}

const single = item(
  declaration('single', 'identifier', ['A']),
  `<p>At full moon.</p><choiceInteraction responseIdentifier="RESPONSE" shuffle="true" maxChoices="1"><prompt>Which tide?</prompt>${choices('A', 'B', 'C')}</choiceInteraction>`,
  matchCorrect,
);

const cases: [what: string, xml: string, block: object, partial?: RegExp][] = [
  [
    'a choice',
    single,
    {
      type: 'MultipleChoice',
      props: { prompt: '<p>At full moon.</p>Which tide?', correct: ['a'], shuffle: true, points: 1 },
    },
  ],
  [
    'a choice of several, with points for each',
    item(
      declaration('multiple', 'identifier', ['A', 'B'], mapping),
      `<choiceInteraction responseIdentifier="RESPONSE" maxChoices="0">${choices('A', 'B', 'C')}</choiceInteraction>`,
      mapResponse,
    ),
    {
      type: 'MultipleChoice',
      props: { correct: ['a', 'b'], partialCredit: true, multiple: true, points: 2 },
    },
  ],
  [
    'a choice of several, whose wrong choices cost nothing',
    item(
      declaration('multiple', 'identifier', ['A', 'B'], mapping.replace('"-1"', '"0"')),
      `<choiceInteraction responseIdentifier="RESPONSE" maxChoices="0">${choices('A', 'B', 'C')}</choiceInteraction>`,
      mapResponse,
    ),
    { type: 'MultipleChoice', props: { correct: ['a', 'b'], partialCredit: true } },
    /^some answers earn other points$/,
  ],
  [
    'a statement',
    item(
      declaration('single', 'identifier', ['f']),
      '<choiceInteraction responseIdentifier="RESPONSE" maxChoices="1"><prompt>The Sun has no tides.</prompt><simpleChoice identifier="t">True</simpleChoice><simpleChoice identifier="f">False</simpleChoice></choiceInteraction>',
      matchCorrect,
    ),
    { type: 'TrueFalse', props: { correct: false } },
  ],
  [
    'a number with a tolerance',
    item(
      declaration('single', 'float', ['12.4']),
      '<p>After how many hours? <textEntryInteraction responseIdentifier="RESPONSE"/></p>',
      condition(
        '<equal toleranceMode="absolute" tolerance="0.1 0.1"><variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></equal>',
        3,
      ),
    ),
    { type: 'Numeric', props: { correct: 12.4, tolerance: 0.1, points: 3 } },
  ],
  [
    'a text with alternatives, in any case',
    item(
      declaration('single', 'string', ['spring']),
      '<p>A <textEntryInteraction responseIdentifier="RESPONSE"/> tide</p>',
      condition(
        ['spring', 'syzygy']
          .map(
            (text) =>
              `<stringMatch caseSensitive="false"><variable identifier="RESPONSE"/><baseValue baseType="string">${text}</baseValue></stringMatch>`,
          )
          .join('')
          .replace(/^.*$/s, '<or>$&</or>'),
        1,
      ),
    ),
    {
      type: 'FillInTheBlanks',
      props: { text: '<p>A [[g1]] tide</p>', blanks: [{ answers: ['spring', 'syzygy'] }] },
    },
  ],
  [
    'a gap with a list',
    item(
      declaration('single', 'identifier', ['S']),
      '<p>A <inlineChoiceInteraction responseIdentifier="RESPONSE"><inlineChoice identifier="S">spring</inlineChoice><inlineChoice identifier="N">neap</inlineChoice></inlineChoiceInteraction> tide</p>',
      matchCorrect,
    ),
    {
      type: 'FillInTheBlanks',
      props: { wordBank: true, distractors: ['neap'], blanks: [{ answers: ['spring'] }] },
    },
  ],
  [
    'words for gaps',
    item(
      declaration('multiple', 'directedPair', ['S G1', 'N G2']),
      '<gapMatchInteraction responseIdentifier="RESPONSE"><prompt>Fill.</prompt><gapText identifier="S" matchMax="1">spring</gapText><gapText identifier="N" matchMax="1">neap</gapText><gapText identifier="X" matchMax="1">ebb</gapText><p>New moon: <gap identifier="G1"/>, half moon: <gap identifier="G2"/></p></gapMatchInteraction>',
      matchCorrect,
    ),
    {
      type: 'FillInTheBlanks',
      props: {
        ...{ prompt: 'Fill.', text: '<p>New moon: [[g1]], half moon: [[g2]]</p>', distractors: ['ebb'] },
        ...{ partialCredit: false, blanks: [{ answers: ['spring'] }, { answers: ['neap'] }] },
      },
    },
  ],
  [
    'pairs',
    item(
      declaration(
        'multiple',
        'directedPair',
        ['N S', 'H P'],
        '<mapping><mapEntry mapKey="N S" mappedValue="2"/><mapEntry mapKey="H P" mappedValue="2"/></mapping>',
      ),
      `<matchInteraction responseIdentifier="RESPONSE" maxAssociations="2"><simpleMatchSet>${['N', 'H'].map((id) => `<simpleAssociableChoice identifier="${id}" matchMax="1">${id}</simpleAssociableChoice>`).join('')}</simpleMatchSet><simpleMatchSet>${['S', 'P', 'X'].map((id) => `<simpleAssociableChoice identifier="${id}" matchMax="1">${id}</simpleAssociableChoice>`).join('')}</simpleMatchSet></matchInteraction>`,
      mapResponse,
    ),
    {
      type: 'Matching',
      props: {
        ...{
          pairs: [
            { left: 'N', right: 'S' },
            { left: 'H', right: 'P' },
          ],
          points: 4,
        },
        ...{ partialCredit: true, distractors: [{ html: 'X' }] },
      },
    },
  ],
  [
    'an order',
    item(
      declaration('ordered', 'identifier', ['B', 'A', 'C']),
      `<orderInteraction responseIdentifier="RESPONSE">${choices('A', 'B', 'C')}</orderInteraction>`,
      matchCorrect,
    ),
    {
      type: 'Ordering',
      props: {
        items: [{ html: 'Choice B' }, { html: 'Choice A' }, { html: 'Choice C' }],
        partialCredit: false,
      },
    },
  ],
  [
    'words in a text',
    item(
      declaration('single', 'identifier', ['B']),
      '<hottextInteraction responseIdentifier="RESPONSE" maxChoices="1"><p>The <hottext identifier="A">moon</hottext> are <hottext identifier="B">round</hottext>.</p></hottextInteraction>',
      matchCorrect,
    ),
    { type: 'MultipleChoice', props: { correct: ['b'], choices: [{ html: 'moon' }, { html: 'round' }] } },
    /^learners choose the words from a list$/,
  ],
  [
    'an essay',
    item(
      declaration('single', 'string', []),
      '<extendedTextInteraction responseIdentifier="RESPONSE"><prompt>Why?</prompt></extendedTextInteraction>',
      '',
    ),
    { type: 'OpenResponse', props: { prompt: 'Why?' } },
  ],
  [
    'a question whose rules are not understood',
    single.replace(matchCorrect, '<responseProcessing><customProgram/></responseProcessing>'),
    { type: 'MultipleChoice', props: { correct: ['a'] } },
    /^its rules for points are not read: the right answer earns one point$/,
  ],
];

test.each(cases)('QTI 2 and 3: %s', async (_what, xml, block, partial) => {
  for (const written of [xml, inQti3(xml)]) {
    const { content, entries } = await convertFile('tides.xml', written);
    expect(content.sections[0]?.steps[0]?.content.content).toMatchObject([block]);
    expect(entries).toMatchObject([
      { result: partial === undefined ? 'converted' : 'partial', title: 'Tides' },
    ]);
    if (partial !== undefined) expect(entries[0]?.reason).toMatch(partial);
  }
});

test('feedback is where learners see it for the same answers', async () => {
  const show = (when: string, id: string) =>
    `<responseCondition><responseIf>${when}<setOutcomeValue identifier="FEEDBACK"><multiple><variable identifier="FEEDBACK"/><baseValue baseType="identifier">${id}</baseValue></multiple></setOutcomeValue></responseIf></responseCondition>`;
  const isRight = '<match><variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></match>';
  const isC =
    '<match><variable identifier="RESPONSE"/><baseValue baseType="identifier">C</baseValue></match>';
  const processing = `<responseProcessing>${show(isRight, 'right')}${show(`<not>${isRight}</not>`, 'wrong')}${show('<not><isNull><variable identifier="RESPONSE"/></isNull></not>', 'all')}${show(isC, 'c')}</responseProcessing>`;
  const feedback = ['right', 'wrong', 'all', 'c']
    .map(
      (id) =>
        `<modalFeedback outcomeIdentifier="FEEDBACK" identifier="${id}" showHide="show">It is ${id}.</modalFeedback>`,
    )
    .join('');
  const { content } = await convertFile(
    'tides.xml',
    single.replace(`${matchCorrect}</`, `${processing}${feedback}</`),
  );
  expect(content.sections[0]?.steps[0]?.content.content[0]?.props).toMatchObject({
    feedback: { right: 'It is right.', wrong: 'It is wrong.' },
    explanation: 'It is all.',
    choices: [{}, {}, { feedback: 'It is c.' }],
  });
});

const manifest = (resources: string) =>
  `<manifest xmlns="http://www.imsglobal.org/xsd/imscp_v1p1" identifier="m"><metadata><schema>QTI Package</schema></metadata><organizations/><resources>${resources}</resources></manifest>`;

async function convertPackage(files: Record<string, string>): Promise<ConvertedFile> {
  const parts = Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) }));
  return convertPath(await writeArchive(zipBytes(parts), 'tides.zip'));
}

test('a package: the sections of its test, shared texts, pictures, and each element once', async () => {
  const files = {
    'imsmanifest.xml': manifest(
      '<resource identifier="t" type="imsqti_test_xmlv2p1" href="test.xml"><file href="test.xml"/></resource>' +
        ['one', 'two', 'three']
          .map(
            (name) => `<resource identifier="${name}" type="imsqti_item_xmlv2p1" href="items/${name}.xml"/>`,
          )
          .join(''),
    ),
    'test.xml':
      '<assessmentTest xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="t" title="All tides"><testPart identifier="p" navigationMode="linear" submissionMode="individual">' +
      '<assessmentSection identifier="s" title="Moon" visible="true"><selection select="1"/><assessmentItemRef identifier="a" href="items/one.xml"/><assessmentItemRef identifier="b" href="items/two.xml"/></assessmentSection>' +
      '<assessmentSection identifier="s2" title="Sun" visible="true"><assessmentItemRef identifier="c" href="items/three.xml"/><assessmentItemRef identifier="d" href="items/none.xml"/></assessmentSection></testPart></assessmentTest>',
    'items/one.xml': single.replace('<p>At', '<p><img src="../media/a%20b.png" alt="Boats"/>At'),
    'items/two.xml': item(
      declaration('single', 'identifier', []),
      '<p>Touch it.</p><hotspotInteraction responseIdentifier="RESPONSE"/>',
      '',
    ),
    'items/three.xml': item('', '<p>The end.</p><script>alert(1)</script>', ''),
    'media/a b.png': 'not shown here',
    'media/other.png': 'of nothing',
  };
  const { content, entries, media } = await convertPackage(files);
  expect(content.lesson.title).toBe('All tides');
  expect(content.sections.map(({ title, steps }) => [title, steps.length])).toEqual([
    ['Moon', 1],
    ['Sun', 1],
  ]);
  expect(media).toHaveLength(1);
  expect(JSON.stringify(content)).toContain(`media:${media[0]?.id}`);
  expect(JSON.stringify(content)).not.toContain('script');
  expect(entries.map(({ kind, result, reason }) => ({ kind, result, reason }))).toEqual([
    { kind: 'assessmentTest', result: 'converted', reason: null },
    { kind: 'assessmentSection', result: 'partial', reason: 'all its questions are asked, not a selection' },
    { kind: 'choiceInteraction', result: 'converted', reason: null },
    {
      ...{ kind: 'hotspotInteraction', result: 'dropped' },
      reason: 'questions on places in a picture have no counterpart',
    },
    { kind: 'assessmentSection', result: 'converted', reason: null },
    { kind: 'assessmentItem', result: 'partial', reason: 'a program (script) is left out' },
    { kind: 'assessmentItemRef', result: 'dropped', reason: 'the file items/none.xml is missing' },
    { kind: 'file', result: 'converted', reason: null },
    { kind: 'file', result: 'dropped', reason: 'no block shows it' },
  ]);
});

/** An item of QTI 1.2, as Canvas and text2qti write it. */
function item12(type: string, presentation: string, conditions: string, more = ''): string {
  const field = (label: string, entry: string) =>
    `<qtimetadatafield><fieldlabel>${label}</fieldlabel><fieldentry>${entry}</fieldentry></qtimetadatafield>`;
  return `<item ident="${type}" title="Question"><itemmetadata><qtimetadata>${field('question_type', type)}${field('points_possible', '2')}</qtimetadata></itemmetadata>
<presentation>${presentation}</presentation><resprocessing><outcomes><decvar maxvalue="100" minvalue="0" varname="SCORE" vartype="Decimal"/></outcomes>${conditions}</resprocessing>${more}</item>`;
}

const material = (html: string) =>
  `<material><mattext texttype="text/html">${html.replaceAll('<', '&lt;')}</mattext></material>`;
const label = (id: string, text = id) => `<response_label ident="${id}">${material(text)}</response_label>`;
const lid = (id: string, inner: string, cardinality = 'Single') =>
  `<response_lid ident="${id}" rcardinality="${cardinality}">${inner}</response_lid>`;
const is = (text: string, id = 'response1') => `<varequal respident="${id}">${text}</varequal>`;
const when = (inner: string, score = '100', action = 'Set') =>
  `<respcondition continue="No"><conditionvar>${inner}</conditionvar><setvar action="${action}" varname="SCORE">${score}</setvar></respcondition>`;
const add = (id: string, text: string) =>
  `<respcondition><conditionvar>${is(text, id)}</conditionvar><setvar varname="SCORE" action="Add">50.00</setvar></respcondition>`;

const bank = `<?xml version="1.0"?><questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2"><assessment ident="a" title="Tides"><section ident="root_section">
${item12('multiple_choice_question', material('<p>Which?</p>') + lid('response1', `<render_choice>${label('1', 'Spring')}${label('2', 'Neap')}${label('3', 'Ebb')}</render_choice>`), `<respcondition continue="Yes"><conditionvar>${is('3')}</conditionvar><displayfeedback feedbacktype="Response" linkrefid="3_fb"/></respcondition>${when(is('1'))}`, `<itemfeedback ident="3_fb"><flow_mat>${material('Not yet.')}</flow_mat></itemfeedback>`)}
${item12('multiple_answers_question', material('Which two?') + lid('response1', `<render_choice>${label('1')}${label('2')}${label('3')}</render_choice>`, 'Multiple'), when(`<and>${is('1')}${is('2')}<not>${is('3')}</not></and>`))}
${item12('true_false_question', material('True?') + lid('response1', `<render_choice>${label('1', 'True')}${label('2', 'False')}</render_choice>`), when(is('1')))}
${item12('short_answer_question', `${material('Name it: <img class="equation_image" data-equation-content="x^2" src="/equation_images/x">')}<response_str ident="response1" rcardinality="Single"><render_fib><response_label ident="answer1"/></render_fib></response_str>`, when(is('spring') + is('syzygy')))}
${item12('numerical_question', `${material('How many?')}<response_str ident="response1" rcardinality="Single"><render_fib fibtype="Decimal"><response_label ident="answer1"/></render_fib></response_str>`, when('<or><varequal respident="response1">12.4</varequal><and><vargte respident="response1">12.3</vargte><varlte respident="response1">12.5</varlte></and></or>'))}
${item12('fill_in_multiple_blanks_question', material('A [kind] tide and a [other] one') + lid('response_kind', `${material('kind')}<render_choice>${label('10', 'spring')}</render_choice>`) + lid('response_other', `${material('other')}<render_choice>${label('11', 'neap')}</render_choice>`), add('response_kind', '10') + add('response_other', '11'))}
${item12('multiple_dropdowns_question', material('A [kind] tide') + lid('response_kind', `${material('kind')}<render_choice>${label('10', 'spring')}${label('12', 'ebb')}</render_choice>`), when(is('10', 'response_kind')))}
${item12('matching_question', material('Match') + ['new', 'half'].map((left, index) => lid(`response_${index}`, `${material(left)}<render_choice>${label('20', 'spring')}${label('21', 'neap')}${label('22', 'none')}</render_choice>`)).join(''), add('response_0', '20') + add('response_1', '21'))}
${item12('essay_question', `${material('Why?')}<response_str ident="response1"><render_fib/></response_str>`, '')}
${item12('file_upload_question', material('Upload it.'), '')}
${item12('text_only_question', material('Read this.'), '')}
${item12('calculated_question', `${material('x?')}<response_str ident="response1"><render_fib/></response_str>`, when('<other/>'))}
</section></assessment></questestinterop>`;

test('QTI 1.2: each type of Canvas becomes a question that earns the same points', async () => {
  const { content, entries } = await convertFile('tides.xml', bank, { questionsPerStep: 20 });
  const blocks = content.sections.flatMap(({ steps }) => steps.flatMap((step) => step.content.content));
  expect(blocks).toMatchObject([
    {
      type: 'MultipleChoice',
      props: {
        prompt: '<p>Which?</p>',
        points: 2,
        choices: [{}, {}, { feedback: 'Not yet.' }],
        correct: ['a'],
      },
    },
    { type: 'MultipleChoice', props: { correct: ['a', 'b'], partialCredit: false, points: 2 } },
    { type: 'TrueFalse', props: { correct: true } },
    { type: 'FillInTheBlanks', props: { blanks: [{ answers: ['spring', 'syzygy'] }] } },
    { type: 'Numeric', props: { correct: 12.4, tolerance: 0.1 } },
    {
      type: 'FillInTheBlanks',
      props: {
        text: 'A [[g1]] tide and a [[g2]] one',
        blanks: [{ answers: ['spring'] }, { answers: ['neap'] }],
      },
    },
    { type: 'FillInTheBlanks', props: { wordBank: true, distractors: ['ebb'] } },
    {
      type: 'Matching',
      props: {
        pairs: [
          { left: 'new', right: 'spring' },
          { left: 'half', right: 'neap' },
        ],
        distractors: [{ html: 'none' }],
        partialCredit: true,
      },
    },
    { type: 'OpenResponse', props: { prompt: 'Why?' } },
    { type: 'OpenResponse', props: { prompt: 'Upload it.' } },
    { type: 'Text', props: { html: 'Read this.' } },
  ]);
  const numbered = scoringOf('Matching')?.score(blocks[7]?.props, { p1: 'p1', p2: 'd1' });
  expect(numbered).toEqual({ score: 1, maxScore: 2 });
  expect(JSON.stringify(blocks[3]?.props)).toContain('data-tex');
  const types = [...bank.matchAll(/<item ident="(\w+)"/g)].map(([, type]) => type);
  expect(entries.map(({ kind }) => kind)).toEqual(['section', ...types]);
  expect(
    entries.filter(({ result }) => result !== 'converted').map(({ kind, result }) => [kind, result]),
  ).toEqual([
    ['file_upload_question', 'partial'],
    ['calculated_question', 'dropped'],
  ]);
});

test.each([
  ['truncated', single.slice(0, 900), /^tides\.xml:\d+: is not well-formed XML: /],
  [
    'with an entity',
    single.replace('Which tide?', '&xxe;'),
    /^tides\.xml:\d+: is not well-formed XML: undefined entity/,
  ],
  [
    'with a bomb of entities',
    single
      .replace('<assessmentItem', '<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><assessmentItem')
      .replace('Which tide?', '&b;'),
    /^tides\.xml:\d+: is not well-formed XML: undefined entity/,
  ],
  [
    'nested too deep',
    `<assessmentItem>${'<div>'.repeat(200)}`,
    /^tides\.xml: is nested deeper than 100 levels$/,
  ],
  [
    'without a question',
    item('', '', ''),
    /^tides\.xml: has no question that Lectern can show: it is empty$/,
  ],
])('an item %s ends with one sentence', async (_what, xml, message) => {
  expect(await messageOfFailure(convertFile('tides.xml', xml))).toMatch(message);
});

test.each(['../../etc/passwd', '/etc/passwd', 'file:///etc/passwd', 'C:\\secret.xml', '..\\..\\secret.xml'])(
  'a manifest that names %s ends with one sentence',
  async (href) => {
    const resource = `<resource identifier="i" type="imsqti_item_xmlv2p1" href="${href}"/>`;
    expect(
      await messageOfFailure(convertPackage({ 'imsmanifest.xml': manifest(resource), 'a.xml': single })),
    ).toBe(`imsmanifest.xml:1: the path ${href} leads out of the package`);
  },
);
