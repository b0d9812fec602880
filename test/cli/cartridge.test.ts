import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf } from '../exports/exports.ts';
import { buildQuiz } from '../lms/lessons.ts';
import { readXml } from '../lms/xml-schemas.ts';
import { buildOrganization, buildVersion } from '../support/factories.ts';
import { useCommandLine } from './command-line.ts';
import { temporaryFolder } from '../support/folders.ts';

const { harness, json, errorOf } = useCommandLine({ PUBLIC_URL: 'https://lessons.example' });

test('an operator writes a cartridge of all published lessons, the same at each run', async () => {
  const { organization } = await buildOrganization(harness);
  const out = await temporaryFolder();
  const command = ['cartridge', '--org', organization.slug, '--out'];
  expect(await errorOf(...command, out)).toContain('has no published lessons');
  const first = await buildVersion(harness, organization, (await buildQuiz()).path);
  const title = '</title><item>&';
  const second = await buildVersion(harness, organization, (await buildQuiz({ lesson: { title } })).path);

  const write = async (name: string, ...options: string[]) => {
    const path = join(out, name);
    expect(await json(...command, path, ...options)).toEqual({ path, links: 2 });
    const bytes = await readFile(path);
    return { bytes, files: await filesOf(bytes) };
  };
  const { bytes, files } = await write('a.imscc');
  expect((await write('b.imscc')).bytes.equals(bytes)).toBe(true);
  const links = [first, second].map(({ lessonId }) => `links/${lessonId}.xml`);
  expect([...files.keys()]).toEqual(['imsmanifest.xml', ...links]);
  expect(readXml(String(files.get('imsmanifest.xml'))).texts).toContain(title);
  const link = String(files.get(links[1] ?? ''));
  expect(link).toContain(`>https://lessons.example/lti/launch/${second.lessonId}/${second._id}<`);

  const moodle = await write('c.imscc', '--preset', 'moodle', '--newest');
  expect(readXml(String(moodle.files.get('imsmanifest.xml'))).texts).toContain('1.1.0');
  const newest = String(moodle.files.get(links[1] ?? ''));
  expect(newest).toContain(`>https://lessons.example/lti/launch/${second.lessonId}<`);
  expect(newest).not.toContain('version_id');
});
