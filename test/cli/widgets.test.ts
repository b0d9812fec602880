import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPackageSource } from '../../shared/packages/read-package.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { lectern, lecternJson } from './command-line.ts';

let origin: Origin;
let harness: Harness;
beforeAll(async () => {
  origin = await startOrigin();
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});

const globe = () => [{ type: 'Globe', props: { id: 'Globe-1' } }];

/** Registers a release of the widget Globe and returns its id. */
async function register(slug: string, js: string, css?: string): Promise<string> {
  origin.serve('/globe.js', js, { contentType: 'text/javascript' });
  if (css !== undefined) origin.serve('/globe.css', css, { contentType: 'text/css' });
  const registered = (await lecternJson(
    harness.environment,
    ...['widget', 'register', '--org', slug, '--type', 'Globe', '--js', origin.url('/globe.js')],
    ...(css === undefined ? [] : ['--css', origin.url('/globe.css')]),
  )) as { id: string; widgetType: string };
  expect(registered).toStrictEqual({ id: expect.stringMatching(/^globe-[0-9a-f]{8}$/), widgetType: 'Globe' });
  return registered.id;
}

/** Returns the widget files of an exported lesson by path. */
async function exportedWidgets(lessonId: string): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const target = join(folder, 'a.zip');
  await lecternJson(harness.environment, 'lesson', 'export', lessonId, '--out', target);
  const archive = await openPackageSource(target);
  try {
    const files: Record<string, string> = {};
    for (const { path } of archive.files)
      if (path.startsWith('widgets/')) files[path] = await text(await archive.open(path));
    return files;
  } finally {
    await archive.close();
  }
}

test('a published version keeps its widget release; the next version has the newer one', async () => {
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
  await lecternJson(
    harness.environment,
    ...['lesson', 'import', path, '--org', organization.slug, '--publish'],
  );
  expect(await exportedWidgets(lessonId)).toStrictEqual({
    [`widgets/${second}.js`]: 'export default 2;',
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
  const { warnings } = (await lecternJson(harness.environment, 'lesson', 'check', lessonId)) as {
    warnings: string[];
  };
  expect(warnings.toSorted()).toEqual([
    `The module of the widget Gone cannot be fetched from ${origin.url('/gone.js')}: not_found, status 404`,
    `The module of the widget Page cannot be fetched from ${origin.url('/page.js')}: bad_type`,
    `The stylesheet of the widget Bare cannot be fetched from ${origin.url('/gone.css')}: not_found, status 404`,
  ]);
  expect(origin.requests('/unused.js')).toBe(0);
});

test('registering a known release makes it the newest again, under its old id', async () => {
  const { organization } = await buildOrganization(harness);
  const first = await register(organization.slug, 'export default 1;');
  await register(organization.slug, 'export default 2;');
  expect(await register(organization.slug, 'export default 1;')).toBe(first);
  const { lessonId } = await buildVersion(
    harness,
    organization,
    (await buildPackage({ blocks: globe })).path,
  );
  expect(Object.keys(await exportedWidgets(lessonId))).toStrictEqual([`widgets/${first}.js`]);
});

test('a file that no lesson could use is rejected as in a package, and no release is stored', async () => {
  const { organization } = await buildOrganization(harness);
  origin.serve('/imports.js', `import './part.js';\nexport default {};`);
  origin.serve('/large.js', 'export default 1;'.padEnd(2 * 1024 ** 2 + 1));
  for (const [path, fault] of [
    [
      '/imports.js',
      /^lectern: Cannot use http:\S+: the module imports ".\/part.js": a widget has to be one file\n$/,
    ],
    ['/large.js', /^lectern: Cannot fetch http:\S+: too_large/],
  ] as const) {
    const command = ['widget', 'register', '--org', organization.slug, '--type', 'Globe'];
    const { code, stderr } = await lectern(harness.environment, ...command, '--js', origin.url(path));
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(fault) as string });
  }
  expect(await harness.db.widgetReleases.countDocuments({ organizationId: organization._id })).toBe(0);
});

test.each([
  [
    'a private address, with the setting that allows it',
    '',
    /blocked_address.*LECTERN_ALLOWED_PRIVATE_HOSTS/,
  ],
  ['a missing file', 'allowed', /not_found/],
])('%s is rejected, and no release is stored', async (_, allowed, fault) => {
  const { organization } = await buildOrganization(harness);
  const environment = {
    ...harness.environment,
    LECTERN_ALLOWED_PRIVATE_HOSTS: allowed === '' ? '' : origin.host,
  };
  const command = ['widget', 'register', '--org', organization.slug, '--type', 'Globe', '--json'];
  const { code, stdout, stderr } = await lectern(environment, ...command, '--js', origin.url('/missing.js'));
  expect({ code, stdout }).toStrictEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(fault);
  expect(stderr).toMatch(/^lectern: Cannot fetch http:\S+: .*\n$/);
  expect(await harness.db.widgetReleases.countDocuments({ organizationId: organization._id })).toBe(0);
});
