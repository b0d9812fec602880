import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openPackageSource } from '../../shared/packages/read-package.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { useOrigin } from '../support/use.ts';
import { errorIn, lecternHere, useCommandLine } from './command-line.ts';
import { temporaryFolder } from '../support/folders.ts';

const origin = useOrigin();
const { harness, json, errorOf, newOwner } = useCommandLine(() => ({
  LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
}));

const globe = () => [{ type: 'Globe', props: { id: 'Globe-1' } }];

/** Registers a release of the widget Globe and returns its id. */
async function register(slug: string, js: string, css?: string): Promise<string> {
  origin.serve('/globe.js', js, { contentType: 'text/javascript' });
  if (css !== undefined) origin.serve('/globe.css', css, { contentType: 'text/css' });
  const registered = (await json(
    ...['widget', 'register', '--org', slug, '--type', 'Globe', '--js', origin.url('/globe.js')],
    ...(css === undefined ? [] : ['--css', origin.url('/globe.css')]),
  )) as { id: string; widgetType: string };
  expect(registered).toStrictEqual({ id: expect.stringMatching(/^globe-[0-9a-f]{8}$/), widgetType: 'Globe' });
  return registered.id;
}

/** Returns the widget files of an exported lesson by path. */
async function exportedWidgets(lessonId: string): Promise<Record<string, string>> {
  const target = join(await temporaryFolder(), 'a.zip');
  await json('lesson', 'export', lessonId, '--out', target);
  const archive = await openPackageSource(target);
  const files: Record<string, string> = {};
  for (const { path } of archive.files)
    if (path.startsWith('widgets/')) files[path] = await text(await archive.open(path));
  return files;
}

test('a published version keeps its widget release; the next version has the newest, which a known one can be again', async () => {
  const { organization } = await buildOrganization(harness);
  const first = await register(organization.slug, 'export default 1;', 'p { color: red }');
  const { path } = await buildPackage({ blocks: globe });
  const { lessonId } = await buildVersion(harness, organization, path);
  const second = await register(organization.slug, 'export default 2;');
  expect(second).not.toBe(first);

  expect(await exportedWidgets(lessonId)).toStrictEqual({
    [`widgets/${first}.css`]: 'p { color: red }',
    [`widgets/${first}.js`]: 'export default 1;',
  });
  await json('lesson', 'import', path, '--org', organization.slug, '--publish');
  expect(await exportedWidgets(lessonId)).toStrictEqual({
    [`widgets/${second}.js`]: 'export default 2;',
  });

  expect(await register(organization.slug, 'export default 1;', 'p { color: red }')).toBe(first);
  await json('lesson', 'import', path, '--org', organization.slug, '--publish');
  expect(Object.keys(await exportedWidgets(lessonId)).sort()).toStrictEqual([
    `widgets/${first}.css`,
    `widgets/${first}.js`,
  ]);
});

test("lesson check downloads a package's URLs, and names each file that an archive would lack", async () => {
  const { organization } = await buildOrganization(harness);
  origin.serve('/good.js', 'export default {};');
  origin.serve('/page.js', '<!doctype html>');
  const widgets = [
    { widgetType: 'Good', sourceUrl: origin.url('/good.js') },
    { widgetType: 'Gone', sourceUrl: origin.url('/gone.js') },
    { widgetType: 'Page', sourceUrl: origin.url('/page.js') },
    { widgetType: 'Bare', sourceUrl: origin.url('/good.js'), cssSourceUrl: origin.url('/gone.css') },
    { widgetType: 'Unused', sourceUrl: origin.url('/unused.js') },
  ];
  const blocks = () => ['Good', 'Gone', 'Page', 'Bare'].map((type) => ({ type, props: { id: type } }));
  const { path } = await buildPackage({ widgets, blocks });
  const { lessonId } = await buildVersion(harness, organization, path);
  const { warnings } = (await json('lesson', 'check', lessonId)) as {
    warnings: string[];
  };
  expect(warnings.toSorted()).toEqual([
    `The module of the widget Gone cannot be fetched from ${origin.url('/gone.js')}: not_found, status 404`,
    `The module of the widget Page cannot be fetched from ${origin.url('/page.js')}: bad_type`,
    `The stylesheet of the widget Bare cannot be fetched from ${origin.url('/gone.css')}: not_found, status 404`,
  ]);
  expect(origin.requests('/unused.js')).toBe(0);
});

test('a file that no lesson could use, or that cannot be downloaded, is rejected, and no release is stored', async () => {
  const owner = await newOwner();
  const stored = await harness.db.widgetReleases.countDocuments();
  origin.serve('/imports.js', `import './part.js';\nexport default {};`);
  origin.serve('/large.js', 'export default 1;'.padEnd(2 * 1024 ** 2 + 1));
  const command = (path: string) => [
    'widget',
    'register',
    ...owner,
    '--type',
    'Globe',
    '--json',
    '--js',
    origin.url(path),
  ];
  for (const [path, fault] of [
    [
      '/imports.js',
      /^lectern: Cannot use http:\S+: the module imports ".\/part.js": a widget has to be one file\n$/,
    ],
    ['/large.js', /^lectern: Cannot fetch http:\S+: too_large/],
    ['/missing.js', /^lectern: Cannot fetch http:\S+: not_found, status 404\n$/],
  ] as const) {
    expect(await errorOf(...command(path))).toMatch(fault);
  }
  const strict = { ...harness.environment, LECTERN_ALLOWED_PRIVATE_HOSTS: '' };
  expect(errorIn(await lecternHere(strict, ...command('/missing.js')))).toMatch(
    /^lectern: Cannot fetch http:\S+: blocked_address.*LECTERN_ALLOWED_PRIVATE_HOSTS.*\n$/,
  );
  expect(await harness.db.widgetReleases.countDocuments()).toBe(stored);
});
