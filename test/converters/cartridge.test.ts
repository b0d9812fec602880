import { expect, test } from 'vitest';
import { messageOfFailure } from '../packages/package-folder.ts';
import { writeArchive, zipBytes } from '../packages/zip-builder.ts';
import { convertPath } from './convert.ts';
import type { ConvertedFile } from './convert.ts';

const item = (title: string, resource = '', inner = '') =>
  `<item identifier="i-${title}"${resource === '' ? '' : ` identifierref="${resource}"`}>${title === '' ? '' : `<title>${title}</title>`}${inner}</item>`;
const resource = (id: string, type: string, href: string, files: string[] = [href]) =>
  `<resource identifier="${id}" type="${type}"${type.startsWith('ims') ? '' : ` href="${href}"`}>${files.map((file) => `<file href="${file}"/>`).join('')}</resource>`;
const manifest = (items: string, resources: string, version = 1) => `<?xml version="1.0"?>
<manifest identifier="m" xmlns="http://www.imsglobal.org/xsd/imsccv1p${version}/imscp_v1p1" xmlns:lom="http://ltsc.ieee.org/xsd/imsccv1p${version}/LOM/manifest">
<metadata><schema>IMS Common Cartridge</schema><schemaversion>1.${version}.0</schemaversion><lom:lom><lom:general><lom:title><lom:string>Tides</lom:string></lom:title></lom:general></lom:lom></metadata>
<organizations><organization identifier="o" structure="rooted-hierarchy">${item('', '', items)}</organization></organizations>
<resources>${resources}</resources></manifest>`;

const quiz = `<questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2"><assessment ident="q" title="Quiz"><section ident="root_section"><item ident="1" title="Q"><itemmetadata><qtimetadata><qtimetadatafield><fieldlabel>cc_profile</fieldlabel><fieldentry>cc.multiple_choice.v0p1</fieldentry></qtimetadatafield></qtimetadata></itemmetadata><presentation><material><mattext texttype="text/html">&lt;p&gt;Which? &lt;img src="$IMS-CC-FILEBASE$/boat%201.png"&gt;&lt;/p&gt;</mattext></material><response_lid ident="r" rcardinality="Single"><render_choice><response_label ident="a"><material><mattext>Spring</mattext></material></response_label><response_label ident="b"><material><mattext>Neap</mattext></material></response_label></render_choice></response_lid></presentation><resprocessing><outcomes><decvar maxvalue="100" minvalue="0" varname="SCORE"/></outcomes><respcondition continue="No"><conditionvar><varequal respident="r">a</varequal></conditionvar><setvar action="Set" varname="SCORE">100</setvar></respcondition></resprocessing></item></section></assessment></questestinterop>`;

const files = {
  'imsmanifest.xml': manifest(
    item('Moon', '', item('Pull', 'page') + item('More', '', item('Deep', 'quiz')) + item('Talk', 'topic')) +
      item(
        'Sun',
        '',
        item('NASA', 'web') + item('Tool', 'lti') + item('Chart', 'chart') + item('Gone', 'gone'),
      ),
    resource('page', 'webcontent', 'wiki_content/pull.html') +
      resource('extra', 'webcontent', 'wiki_content/extra.html') +
      resource('work', 'associatedcontent/imscc_xmlv1p1/learning-application-resource', 'w/work.html', [
        'w/work.html',
        'w/assignment_settings.xml',
      ]) +
      resource('quiz', 'imsqti_xmlv1p2/imscc_xmlv1p1/assessment', 'quiz/assessment_qti.xml') +
      resource('topic', 'imsdt_xmlv1p1', 'topic.xml') +
      resource('web', 'imswl_xmlv1p1', 'web.xml') +
      resource('lti', 'imsbasiclti_xmlv1p0', 'lti.xml') +
      resource('chart', 'webcontent', 'web_resources/chart.png') +
      resource('gone', 'webcontent', 'gone.html') +
      resource('boat', 'webcontent', 'web_resources/boat 1.png'),
  ),
  'wiki_content/pull.html':
    '<html><head><title>Pull</title><meta name="identifier" content="page"/></head><body><div><h2>Water</h2><p>It rises: <img class="equation_image" data-equation-content="x^2" src="/equation_images/x"></p>' +
    '<p><img src="$IMS-CC-FILEBASE$/boat%201.png?canvas_download=1" alt="Boats" width="400"></p><p onclick="x()"><a href="$WIKI_REFERENCE$/pages/extra">More</a><script>alert(1)</script></p></div></body></html>',
  'wiki_content/extra.html':
    '<html><head><title>Extra page</title></head><body><p>And <a href="https://example.org/">more</a>.</p></body></html>',
  'w/work.html': '<html><head><title>Assignment: Essay</title></head><body><p>Write it.</p></body></html>',
  'w/assignment_settings.xml': '<assignment/>',
  'quiz/assessment_qti.xml': quiz,
  'topic.xml':
    '<topic xmlns="http://www.imsglobal.org/xsd/imsccv1p1/imsdt_v1p1"><title>Talk</title><text texttype="text/html">&lt;p&gt;What did you see?&lt;/p&gt;</text></topic>',
  'web.xml':
    '<webLink xmlns="http://www.imsglobal.org/xsd/imsccv1p1/imswl_v1p1"><title>NASA</title><url href="https://example.org/nasa"/></webLink>',
  'lti.xml': '<cartridge_basiclti_link/>',
  'web_resources/chart.png': 'a chart',
  'web_resources/boat 1.png': 'boats',
  'course_settings/module_meta.xml': '<modules/>',
};

async function convert(parts: Record<string, string>, module: number | null = null): Promise<ConvertedFile> {
  const entries = Object.entries(parts).map(([name, content]) => ({ name, content: Buffer.from(content) }));
  return convertPath(await writeArchive(zipBytes(entries), 'tides.imscc'), { module });
}

test('a course: modules in order, pages with pictures and formulas, quizzes, links, and each element once', async () => {
  const { content, entries, media, steps } = await convert(files);
  expect(content.lesson.title).toBe('Tides');
  expect(content.sections.map(({ title, steps: own }) => [title, own.map((step) => step.title)])).toEqual([
    ['Moon', ['Pull', 'Quiz', 'Talk']],
    ['Sun', ['NASA', 'Chart']],
    ['Tides', ['Extra page', 'Essay']],
  ]);
  expect(steps.Pull).toMatchObject([
    { type: 'Heading', props: { text: 'Water', level: 2 } },
    { type: 'Text', props: { html: expect.stringContaining('data-tex="x^2"') as string } },
    { type: 'Image', props: { alt: 'Boats', src: expect.stringContaining('media:') as string } },
    { type: 'Text', props: { html: '<p><a>More</a></p>' } },
  ]);
  expect(steps.Quiz).toMatchObject([
    { type: 'Heading', props: { text: 'More' } },
    { type: 'MultipleChoice', props: { correct: ['a'], points: 1 } },
  ]);
  expect(steps.NASA).toMatchObject([
    { type: 'Text', props: { html: '<p><a href="https://example.org/nasa">NASA</a></p>' } },
  ]);
  expect(media).toHaveLength(2);
  const counted = { items: 0, files: 0 };
  // An independent count: what the manifest lists, the quiz's section and question, and files that are no element.
  counted.items = (files['imsmanifest.xml'].match(/<item /g)?.length ?? 0) - 1 + 2 + 2;
  const elements = ['imsmanifest.xml', 'w/assignment_settings.xml', 'topic.xml', 'web.xml', 'lti.xml'];
  counted.files = Object.keys(files).filter(
    (name) => !/html$|_qti\.xml$/.test(name) && !elements.includes(name),
  ).length;
  const own = entries.filter(({ kind }) => kind === 'file');
  expect(entries).toHaveLength(counted.items + own.length);
  expect(own.filter(({ path }) => path !== 'lti.xml')).toHaveLength(counted.files);
  expect(
    entries
      .filter(({ kind, result }) => kind !== 'file' && result !== 'converted')
      .map(({ kind, title, result, reason }) => ({ kind, title, result, reason })),
  ).toEqual([
    {
      ...{ kind: 'page', title: 'Pull', result: 'partial' },
      reason: 'links to other pages of the course are left out; a program (script) is left out',
    },
    { kind: 'discussion', title: 'Talk', result: 'partial', reason: 'learners cannot answer each other' },
    {
      kind: 'tool',
      title: 'Tool',
      result: 'dropped',
      reason: 'the tool of another server needs a registration',
    },
    { kind: 'item', title: 'Gone', result: 'dropped', reason: 'the file gone.html is missing' },
    { kind: 'assignment', title: 'Essay', result: 'partial', reason: 'learners cannot hand in work' },
  ]);
});

test('each module can become a lesson of its own', async () => {
  const [moon, sun] = await Promise.all([convert(files, 1), convert(files, 2)]);
  expect([moon.title, sun.title]).toEqual(['Moon', 'Sun']);
  expect(moon.lessonId).not.toBe(sun.lessonId);
  expect(await messageOfFailure(convert(files, 4))).toBe(
    'tides.imscc: has no module 4, but 3: 1 Moon, 2 Sun, 3 Tides',
  );
});

test.each([2, 3])('reads Common Cartridge 1.%i', async (version) => {
  const { steps } = await convert({
    ...files,
    'imsmanifest.xml': manifest(
      item('Pull', 'page'),
      resource('page', 'webcontent', 'wiki_content/pull.html'),
      version,
    ),
  });
  expect(Object.keys(steps)).toEqual(['Pull']);
});

test.each([
  [
    '../../../etc/passwd',
    /^imsmanifest\.xml:5: the path \.\.\/\.\.\/\.\.\/etc\/passwd leads out of the package$/,
  ],
  ['file:///etc/passwd', /^imsmanifest\.xml:5: the path file:\/\/\/etc\/passwd leads out of the package$/],
])('a cartridge that names %s ends with one sentence', async (href, message) => {
  const hostile = {
    ...files,
    'imsmanifest.xml': manifest(item('Pull', 'page'), resource('page', 'webcontent', href)),
  };
  expect(await messageOfFailure(convert(hostile))).toMatch(message);
});
