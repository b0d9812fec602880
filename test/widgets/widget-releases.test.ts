import { describe, expect, test } from 'vitest';
import { findNewestReleases } from '../../shared/models/widget-release.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { externalWidgetIdOf, releaseWidget, widgetIdOf } from '../../shared/widgets/releases.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();

const digest = (letter: string) => ({ sha256: letter.repeat(64), crc32: 0, size: 1 });

describe('the id of a release', () => {
  test.each([
    ['MultipleChoice', /^multiple-choice-[0-9a-f]{8}$/],
    ['globe_3D', /^globe-3-d-[0-9a-f]{8}$/],
    ['Ünïcode Ding', /^uenicode-ding-[0-9a-f]{8}$|^unicode-ding-[0-9a-f]{8}$/],
    ['../../etc/passwd', /^etc-passwd-[0-9a-f]{8}$/],
    ['⚙', /^[a-z-]+-[0-9a-f]{8}$/],
    [`${'x'.repeat(99)} and more`, /^x{30}-[0-9a-f]{8}$/],
  ])('is the type %s in kebab-case and 8 hex digits, safe as a file name', (type, form) => {
    expect(widgetIdOf(type, { js: digest('a'), css: null })).toMatch(form);
    expect(externalWidgetIdOf(type, 'https://example.com/widget.js', null)).toMatch(form);
  });

  test('differs for other files, and distinguishes script from stylesheet', () => {
    const ids = [
      { js: digest('a'), css: null },
      { js: digest('b'), css: null },
      { js: digest('a'), css: digest('b') },
      { js: digest('b'), css: digest('a') },
    ].map((files) => widgetIdOf('Globe', files));
    expect(new Set(ids).size).toBe(4);
    expect(widgetIdOf('Globe', { js: digest('a'), css: null })).toBe(ids[0]);
  });
});

async function release(organizationId: string | null, js: string) {
  const widget = { organizationId, type: 'Globe', js: bytesOf(Buffer.from(js)), css: null };
  return releaseWidget(harness.db, harness.store, widget);
}

async function newestOf(organizationId: string | null): Promise<string | undefined> {
  return (await findNewestReleases(harness.db, organizationId, ['Globe'])).get('Globe')?.widgetId;
}

test('the last release is the newest of its type; registering an old one again makes it the newest, without a duplicate', async () => {
  const { organization } = await buildOrganization(harness);
  const first = await release(organization._id, 'one');
  const second = await release(organization._id, 'two');
  expect([first.created, second.created]).toStrictEqual([true, true]);
  expect(await newestOf(organization._id)).toBe(second.widgetId);

  expect(await release(organization._id, 'one')).toMatchObject({ widgetId: first.widgetId, created: false });
  expect(await newestOf(organization._id)).toBe(first.widgetId);
  expect(await harness.db.widgetReleases.countDocuments({ organizationId: organization._id })).toBe(2);
});

test('the same files released concurrently are one release', async () => {
  const { organization } = await buildOrganization(harness);
  const all = await Promise.all(Array.from({ length: 8 }, () => release(organization._id, 'same')));
  expect(all.filter(({ created }) => created)).toHaveLength(1);
  expect(await harness.db.widgetReleases.countDocuments({ organizationId: organization._id })).toBe(1);
});

test('releases belong to one organization, or to Lectern', async () => {
  const [mine, other] = [await buildOrganization(harness), await buildOrganization(harness)];
  await release(mine.organization._id, 'mine');
  expect(await newestOf(other.organization._id)).toBeUndefined();
  expect(await newestOf(null)).toBeUndefined();
});
