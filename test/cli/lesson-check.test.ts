import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { errorIn, lecternHere, lecternJson, useCommandLine } from './command-line.ts';
import { temporaryFolder } from '../support/folders.ts';
import { pngWith } from '../exports/pictures.ts';

const { harness, run, json, errorOf, newOwner } = useCommandLine();
let withoutServers: Record<string, string>;
beforeAll(() => {
  withoutServers = { ...harness.environment, MONGODB_URI: 'mongodb://127.0.0.1:1/lectern' };
});

const picture = pngWith('a picture');
const globe = { type: 'Globe', props: { id: 'Globe-1' } };
const image = (id: string, props: object) => ({ type: 'Image', props: { id, alt: '', ...props } });

/** Builds a version, a draft by default. */
async function addVersion(parts: Parameters<typeof buildPackage>[0], publish = false) {
  const { organization } = await buildOrganization(harness);
  return buildVersion(harness, organization, (await buildPackage(parts)).path, { publish });
}

test('warns of an unknown widget and a missing media file, which do not prevent playing', async () => {
  const mediaId = randomUUID();
  const blocks = () => [image('i', { src: `media:${mediaId}` }), globe];
  const { lessonId } = await addVersion({ blocks }, true);
  expect(await json('lesson', 'check', lessonId)).toMatchObject({
    id: lessonId,
    playability: { valid: true, errors: [] },
    warnings: [
      `The lesson refers to an unknown media file, ${mediaId}.`,
      'No widget is registered for the type Globe.',
    ],
  });
});

test('import and check report probable mistakes of the author with their position', async () => {
  const owner = await newOwner();
  const importJson = async (path: string): Promise<unknown> => {
    const { stdout, stderr } = await run('lesson', 'import', path, ...owner, '--json');
    expect(stderr).toMatch(/^(?:warning: lesson\.json: .+\n)+$/);
    return JSON.parse(stdout);
  };
  const choices = [{ id: 'a', html: 'A' }, { id: 'a', html: 'B' }, { html: 'C' }];
  const [only] = choices;
  const question = (id: string, props: object) => ({
    type: 'MultipleChoice',
    props: { id, choices, ...props },
  });
  const body = [image('i', { captoin: '', Alt: '', hue: 1 })];
  const blocks = () => [
    question('q1', { correct: ['a', 'z'] }),
    question('q2', { choices: [only] }),
    question('q3', { choices: [only], points: 0 }),
    question('q4', { choices: [only], correct: 'a' }),
    { type: 'Callout', props: { id: 'c', title: '', body } },
    // Fields that Puck and the player use, a widget of the organization, and scoring from the settings.
    {
      type: 'Text',
      props: { id: 't', html: '', visibleIf: {}, variable: 'v', puck: {}, _own: 1 },
      readOnly: {},
    },
    { type: 'Own', props: { id: 'o', anything: 1, points: '5' } },
    { type: 'Own', props: { id: 'p', points: 5 } },
    { type: 'MultipleChoice', props: { id: 'q5', choices: [{ id: 1, html: '', htlm: '', _own: 1 }] } },
    {
      type: 'Accordion',
      props: { id: 'n', panels: [{ title: '', body: [] }, { titel: '', constructor: 1 }, 'x'] },
    },
    { type: 'Image', props: { id: 's', src: '', alt: '', size: { width: 1, heigth: 1 } } },
    { type: 'Video', props: { id: 'v', captions: [{ src: '', lang: 'en' }] } },
  ];
  const feedback = { rigth: '' };
  const overrides = { MultipleChoice: { correct: [1], atempts: 2, feedback }, Own: { any: 1 } };
  const { path, lessonId } = await buildPackage({ blocks, lesson: { widget_settings: { overrides } } });
  const imported = await importJson(path);
  const place = 'Section 1 ("A section"), step 1 ("A step"), ';
  const warnings = [
    'The settings for all widgets of the type MultipleChoice: unknown prop "atempts"; did you mean "attempts"?',
    'The settings for all widgets of the type MultipleChoice: unknown prop "feedback.rigth"; did you mean "right"?',
    `${place}MultipleChoice "q1": choice 2 has the id "a" of an earlier choice, and is left out`,
    `${place}MultipleChoice "q1": the right answer "z" is not among its choices ("a", "choice-2e7d2c03a9")`,
    `${place}MultipleChoice "q2": the right answer "1" is not among its choices ("a")`,
    `${place}MultipleChoice "q3": the right answer "1" is not among its choices ("a")`,
    `${place}MultipleChoice "q4": correct must be a list of choice ids, such as ["a"]`,
    `${place}Image "i": unknown prop "captoin"; did you mean "caption"?`,
    `${place}Image "i": unknown prop "Alt"; did you mean "alt"?`,
    `${place}Image "i": unknown prop "hue"`,
    `${place}Own "o": points must be a number from 0 to 1000, not "5"; the block is not scored`,
    `${place}MultipleChoice "q5": unknown prop "choices[0].htlm"; did you mean "html"?`,
    `${place}Accordion "n": unknown prop "panels[1].titel"; did you mean "title"?`,
    `${place}Accordion "n": unknown prop "panels[1].constructor"`,
    `${place}Image "s": unknown prop "size.heigth"; did you mean "height"?`,
    `${place}Video "v": unknown prop "captions[0].lang"`,
  ];
  expect(imported).toMatchObject({ warnings: warnings.map((warning) => `lesson.json: ${warning}`) });
  const checked = await json('lesson', 'check', lessonId);
  expect(checked).toMatchObject({ warnings: ['No widget is registered for the type Own.', ...warnings] });

  const bare = await buildPackage({
    blocks: () => [question('q', { choices: [] }), question('p', { points: 0, choices: [] })],
  });
  expect(await importJson(bare.path)).toMatchObject({
    warnings: [
      `lesson.json: ${place}MultipleChoice "q": has no right answer, so it is not scored; set points to 0 if that is meant`,
    ],
  });
});

test('fails for a lesson that cannot be played, and publish rejects it unless forced', async () => {
  const { lessonId } = await addVersion({ sections: [] });
  const checked = await run('lesson', 'check', lessonId, '--json');
  expect(checked.code).toBe(1);
  expect(JSON.parse(checked.stdout)).toMatchObject({
    playability: { valid: false, errors: [{ code: 'no_sections' }] },
  });
  expect(await errorOf('lesson', 'publish', lessonId, '--json')).toMatch(
    /^lectern: The lesson cannot be played yet: .*--force\.\n$/,
  );
  expect(await json('lesson', 'publish', lessonId, '--force')).toMatchObject({ status: 'published' });
});

test('reads a folder without servers, and prints the warnings of an import', async () => {
  const sourceUrl = 'http://127.0.0.1:9/a.png';
  const { path, lessonId, mediaIds } = await buildPackage({
    media: [{ bytes: picture }, { sourceUrl }],
    blocks: ([file, external]) => [
      image('a', { src: `media:${file}` }),
      image('b', { src: `media:${external}`, captoin: '' }),
      globe,
    ],
  });
  const [, id = ''] = mediaIds;
  expect(await lecternJson(withoutServers, 'lesson', 'check', path)).toMatchObject({
    path,
    lessonId,
    playability: { valid: true, errors: [] },
    warnings: [
      expect.stringMatching(/unknown prop "captoin"; did you mean "caption"\?$/) as string,
      'The package has no widget of the type Globe: the organization must register one.',
      `The media file ${id} is not downloaded: "${sourceUrl}" is not a public address.`,
    ],
    externalMedia: [{ id, sourceUrl }],
  });
  expect(await harness.db.lessons.countDocuments({ _id: lessonId })).toBe(0);
});

test('reads ZIP files as well, and an exported archive has no problems', async () => {
  const { lessonId } = await addVersion({}, true);
  const zip = join(await temporaryFolder(), 'lesson.zip');
  await json('lesson', 'export', lessonId, '--out', zip);
  expect(await lecternHere(withoutServers, 'lesson', 'check', zip)).toMatchObject({
    code: 0,
    stdout: `${zip}: A lesson, version 1\n  nothing to correct\n`,
    stderr: '',
  });
});

test('fails for a package that cannot be played', async () => {
  const { path } = await buildPackage({ sections: [] });
  expect(await lecternHere(withoutServers, 'lesson', 'check', path)).toMatchObject({
    code: 1,
    stdout: `${path}: A lesson, version 1\n  error: The lesson has no sections\n`,
  });
});

test.each<[string, (path: string, file: string) => Promise<void>, RegExp]>([
  [
    'a link to a file outside',
    (path) => symlink('/etc/passwd', join(path, 'media', 'a.png')),
    /is a symbolic link/,
  ],
  ['a page instead of a picture', (_, file) => writeFile(file, '<!doctype html><p>Not found'), /bad_type/],
  ['an empty picture', (_, file) => writeFile(file, ''), /is empty/],
  ['no lesson', (path) => rm(join(path, 'lesson.json')), /lesson\.json: is not in the package/],
])('rejects a folder with %s with the same message as import', async (_, spoil, reason) => {
  const { path, mediaIds } = await buildPackage({ media: [{ bytes: picture }] });
  await spoil(path, join(path, 'media', `${mediaIds[0]}.png`));
  const error = errorIn(await lecternHere(withoutServers, 'lesson', 'check', path));
  expect(error).toMatch(reason);
  expect(await errorOf('lesson', 'import', path, ...(await newOwner()))).toBe(error);
});

test('a new lesson is valid without a warning, can be imported and played, and replaces no file', async () => {
  const parent = await temporaryFolder();
  const folder = join(parent, 'below', 'my lesson');
  const made = await lecternJson(withoutServers, 'lesson', 'new', folder);
  expect(made).toEqual({ path: folder, lessonId: expect.any(String) as string });
  expect((await readdir(folder)).sort()).toEqual(['README.md', 'lesson.json', 'manifest.json', 'media']);
  expect(await lecternHere(withoutServers, 'lesson', 'check', folder)).toMatchObject({
    code: 0,
    stdout: `${folder}: Leaves, version 1\n  nothing to correct\n`,
  });
  const imported = await json('lesson', 'import', folder, ...(await newOwner()), '--publish');
  const { lessonId } = made as { lessonId: string };
  expect(imported).toMatchObject({ lessonId, published: true, media: 1, warnings: [] });

  const before = await readFile(join(folder, 'manifest.json'), 'utf8');
  for (const [taken, fault] of [
    [folder, 'is not empty'],
    [parent, 'is not empty'],
    [join(folder, 'README.md'), 'is not a folder'],
    [join(folder, 'README.md', 'x'), 'is not a folder'],
  ] as const) {
    const error = errorIn(await lecternHere(withoutServers, 'lesson', 'new', taken));
    expect(error).toContain(`${taken} ${fault}`);
  }
  expect(await readFile(join(folder, 'manifest.json'), 'utf8')).toBe(before);
  const empty = await temporaryFolder();
  expect(await lecternHere(withoutServers, 'lesson', 'new', empty)).toMatchObject({ code: 0 });
});

test('convert, check and import read a question bank, and say what is lost', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'tides.gift');
  await writeFile(path, '::Spring:: Which tide? {=spring =%50%high}\n\nThe Sun pulls, too. {T}\n');
  const report = [
    '  from gift: 1 converted, 1 partial',
    `    tides.gift:1: shortanswer "Spring" is partial: answers no longer earn 50 %`,
  ].join('\n');
  const target = join(folder, 'package');
  const convert = ['lesson', 'convert', path, '--to', target];
  const { stdout } = await lecternHere(withoutServers, ...convert);
  expect(stdout).toBe(`Wrote a package with 2 files to ${target}\n${report}\n`);
  expect((await readdir(target)).sort()).toEqual(['conversion.json', 'lesson.json', 'manifest.json']);
  const { stdout: checked } = await lecternHere(withoutServers, 'lesson', 'check', path);
  expect(checked).toBe(`${path}: tides, version 1\n${report}\n  nothing to correct\n`);
  expect(errorIn(await lecternHere(withoutServers, ...convert))).toBe(
    `lectern: ${target} is not empty. Name a new folder.\n`,
  );
  const { stdout: imported } = await run('lesson', 'import', path, ...(await newOwner()));
  expect(imported).toContain(report);
  expect(await json('lesson', 'import', target, ...(await newOwner()))).toMatchObject({
    ...{ slug: 'tides', conversion: null },
  });
});

test('new writes an example in Markdown, and convert writes a package as Markdown', async () => {
  const folder = await temporaryFolder();
  const example = join(folder, 'leaves');
  await lecternHere(withoutServers, 'lesson', 'new', example, '--markdown');
  const { stdout } = await lecternHere(withoutServers, 'lesson', 'check', example);
  expect(stdout).toBe(`${example}: Leaves, version 1\n  from markdown: 5 converted\n  nothing to correct\n`);
  const built = await buildPackage({
    media: [{ bytes: picture }],
    blocks: ([id]) => [image('i', { src: `media:${id}`, caption: 'A <em>boat</em>' }), globe],
    lesson: { theme: 'dark' },
  });
  const target = join(folder, 'markdown');
  const written = await lecternHere(
    withoutServers,
    'lesson',
    'convert',
    built.path,
    '--markdown',
    '--to',
    target,
  );
  expect(written.stdout).toBe(
    `Wrote Markdown with 2 files to ${target}\n  left out: lesson: the field theme\n`,
  );
  const text = await readFile(join(target, 'lesson.md'), 'utf8');
  expect(text).toContain(
    `![](media/${built.mediaIds[0]}.png "A *boat*")\n\n{#i}\n\n\`\`\`widget Globe\nid: Globe-1\n\`\`\``,
  );
  expect(await json('lesson', 'import', target, ...(await newOwner()))).toMatchObject({
    ...{ lessonId: built.lessonId, media: 1, conversion: { format: 'markdown', converted: 2 } },
  });
});
