import { beforeAll, expect, test } from 'vitest';
import { deleteVersion } from '../../shared/models/lesson-version.ts';
import { findReleases } from '../../shared/models/widget-release.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { publishVersion } from '../../shared/publishing/publishing.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { releaseWidget, removeUnusedReleases } from '../../shared/widgets/releases.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { addWidgets, importInto } from './import-support.ts';

const harness = useHarness();
let organization: Organization;
beforeAll(async () => {
  ({ organization } = await buildOrganization(harness));
});

const js = (text: string) => `export default ${JSON.stringify(text)}`;
const blocks = (...types: string[]) =>
  types.map((type, index) => ({ type, props: { id: `${type}-${index}`, text: '' } }));

test('widgets of a package become releases, and the version is pinned to them', async () => {
  const { path } = await buildPackage({ blocks: () => blocks('FlipCard', 'Heading') });
  await addWidgets(path, [{ type: 'FlipCard', js: js('flip'), css: '.flip {}' }]);
  const { version, widgets } = await importInto(harness, organization, path);
  expect(widgets).toBe(1);
  const [pin] = version.widgets;
  expect(pin).toEqual({
    type: 'FlipCard',
    widgetId: expect.stringMatching(/^flip-card-[0-9a-f]{8}$/) as string,
  });

  const [release] = await findReleases(harness.db, organization._id, [pin?.widgetId ?? '']);
  expect(release).toMatchObject({
    type: 'FlipCard',
    js: digestOf(Buffer.from(js('flip'))),
    css: digestOf(Buffer.from('.flip {}')),
  });
  for (const file of [release?.js, release?.css])
    expect(file && (await harness.store.assets.has(file))).toBe(true);
});

test("a package's widget serves only its own version, and replaces no registered one", async () => {
  const register = (text: string) =>
    releaseWidget(harness.db, harness.store, {
      organizationId: organization._id,
      type: 'Gauge',
      js: bytesOf(Buffer.from(js(text))),
      css: null,
    });
  const old = await register('old');
  const current = await register('current');
  // An old package with a release that was once registered, and another one.
  for (const text of ['old', 'another']) {
    const { path } = await buildPackage({ blocks: () => blocks('Gauge') });
    await addWidgets(path, [{ type: 'Gauge', js: js(text) }]);
    const { version } = await importInto(harness, organization, path);
    const published = await publishVersion(harness.db, harness.store, version._id, { force: false });
    expect(published.widgets).toEqual(version.widgets);
    if (text === 'old') expect(version.widgets).toEqual([{ type: 'Gauge', widgetId: old.widgetId }]);
  }
  const { path } = await buildPackage({ blocks: () => blocks('Gauge') });
  const { version } = await importInto(harness, organization, path);
  const published = await publishVersion(harness.db, harness.store, version._id, { force: false });
  expect(published.widgets).toEqual([{ type: 'Gauge', widgetId: current.widgetId }]);
});

test('the sweep removes exactly the releases without a version or a registration', async () => {
  const { organization: own } = await buildOrganization(harness);
  const imported = async (type: string) => {
    const { path } = await buildPackage({ blocks: () => blocks(type) });
    await addWidgets(path, [{ type, js: js(type) }]);
    return (await importInto(harness, own, path)).version;
  };
  await imported('Used');
  const left = await imported('Left');
  await imported('Registered');
  const release = { organizationId: own._id, css: null, type: 'Registered' };
  await releaseWidget(harness.db, harness.store, { ...release, js: bytesOf(Buffer.from(js('Registered'))) });
  // Simulates that all three imports died, Left's before its version.
  const aDayAgo = new Date(Date.now() - 86_400_000);
  await harness.db.widgetReleases.updateMany({ organizationId: own._id }, { unusedSince: aDayAgo });
  await deleteVersion(harness.db, left._id);
  await Promise.all([1, 2].map(() => removeUnusedReleases(harness.db, 3600)));
  const kept = await harness.db.widgetReleases.find({ organizationId: own._id }).lean().exec();
  expect(kept.map(({ type, unusedSince }) => [type, unusedSince]).sort()).toEqual([
    ['Registered', null],
    ['Used', null],
  ]);
});

test('core widgets in a package are ignored: the type is always Lectern’s own', async () => {
  const { path } = await buildPackage({ blocks: () => blocks('Heading') });
  await addWidgets(path, [{ type: 'Heading', js: js('not a heading') }]);
  const { version, widgets } = await importInto(harness, organization, path);
  expect({ widgets, pins: version.widgets }).toEqual({ widgets: 0, pins: [] });
  expect(await harness.store.assets.has(digestOf(Buffer.from(js('not a heading'))))).toBe(false);
  const published = await publishVersion(harness.db, harness.store, version._id, { force: false });
  const [pin] = published.widgets;
  const [release] = await findReleases(harness.db, null, [pin?.widgetId ?? '']);
  expect(release).toMatchObject({ organizationId: null, type: 'Heading' });
});
