import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatNames, loadConverters } from '../../shared/converters/formats.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { messageOfFailure } from '../packages/package-folder.ts';
import { writeArchive, zipBytes } from '../packages/zip-builder.ts';
import { convertFile, convertPath } from './convert.ts';

test.each([
  ['prose', Buffer.from('hello world, this is nothing')],
  // Expressions that go over them again and again would take minutes.
  ['blank lines', Buffer.from(`x${'\n'.repeat(300_000)}x`)],
  ['a line of spaces', Buffer.from(`ANSWER:${' '.repeat(300_000)}x`)],
  ['gzip', Buffer.from('1f8b0800000000000003', 'hex')],
  ['a program', Buffer.from('\x7fELF\0\0\0\0\0\0')],
  ['an archive', zipBytes([{ name: 'a/x' }, { name: 'b/lesson.json' }])],
])('%s is no format, and the message names those that are', async (_what, bytes) => {
  expect(await messageOfFailure(convertFile('notes.bin', bytes))).toBe(
    'notes.bin: is neither a lesson package, with lesson.json and manifest.json at the top or in the only folder ' +
      `there, nor in another format that Lectern reads: ${formatNames}`,
  );
});

const scorm = '<manifest xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_v1p3"><metadata/></manifest>';

test.each([
  ['a SCORM package', { 'imsmanifest.xml': scorm }],
  ['a SCORM package', { 'course/imsmanifest.xml': Buffer.from(scorm, 'utf16le') }],
  ['a cmi5 package', { 'cmi5.xml': '<courseStructure/>' }],
  ['an xAPI package (Tin Can)', { 'tincan.xml': '<tincan/>' }],
])('%s of another tool is refused with what to do instead', async (what, files) => {
  const parts = Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) }));
  const path = await writeArchive(zipBytes(parts), 'course.zip');
  expect(await messageOfFailure(convertPath(path))).toBe(
    `course.zip: is ${what}, whose lessons are programs and not data, so Lectern cannot read them. Export the course ` +
      'from the tool that made it in a format that Lectern reads, or from Lectern again.',
  );
});

test('the page of each format has the table of its elements', async () => {
  for (const { id, title, elements } of await loadConverters()) {
    const page = await readFile(join(packageRoot, 'docs', 'import', `${id}.md`), 'utf8');
    const rows = [...page.matchAll(/^\| `(.*?)` +\| `(.*?)` +\| (.*?) +\|$/gm)].map(
      ([, element = '', result = '', becomes = '']) => ({ element, result, becomes }),
    );
    expect({ title: /^# (.*)$/m.exec(page)?.[1], rows }).toEqual({ title, rows: elements });
  }
});
