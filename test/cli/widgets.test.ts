import { expect, test } from 'vitest';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { useOrigin } from '../support/use.ts';
import { errorIn, lecternHere, useCommandLine } from './command-line.ts';

const origin = useOrigin();
const { harness, json, errorOf, newOwner } = useCommandLine(() => ({
  LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
}));

test('register prints the id of a release, which is the same for the same files', async () => {
  const owner = await newOwner();
  const register = async (js: string) => {
    origin.serve('/globe.js', js, { contentType: 'text/javascript' });
    origin.serve('/globe.css', 'p { color: red }', { contentType: 'text/css' });
    const urls = ['--js', origin.url('/globe.js'), '--css', origin.url('/globe.css')];
    return json('widget', 'register', ...owner, '--type', 'Globe', ...urls);
  };
  const first = await register('export default 1;');
  const id = expect.stringMatching(/^globe-[0-9a-f]{8}$/) as string;
  expect(first).toStrictEqual({ id, widgetType: 'Globe' });
  expect(await register('export default 2;')).not.toStrictEqual(first);
  expect(await register('export default 1;')).toStrictEqual(first);
  expect(await harness.db.widgetReleases.findOne({ type: 'Globe' }).lean()).toMatchObject({
    css: { size: 16 },
  });
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
