import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ask, expectError } from '../support/answers.ts';
import { follow, widgetPath } from '../player/player-files.ts';
import { exportJobOf, incompleteKey } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { FailedWidget } from '../../shared/packages/manifest.ts';
import { readCoreBundle } from '../../shared/widgets/core-bundles.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { answer, file, redirectTo } from '../support/origin.ts';
import type { Behavior } from '../support/origin.ts';
import { useApi, useOrigin } from '../support/use.ts';
import { downloadExport, expectSameFiles } from './exports.ts';
import { png } from './pictures.ts';
import { temporaryFolder } from '../support/folders.ts';

const maxBytes = 100_000;
const script = (name: string) => `export default { type: 'Dial', mount(element) {
  element.append('The dial is ${name}');
  // </script><script>window.broken = 1</script>
  return { destroy() {} };
} };\n`;
const style = (name: string) => `.dial::before { content: '${name}' }\n`;

const [origin, forbidden] = [useOrigin(), useOrigin()];
const api = useApi(
  () => ({
    LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
    MEDIA_MAX_BYTES: `${maxBytes}`,
    DOWNLOAD_TIMEOUT_SECONDS: '1',
  }),
  { worker: true },
);

/** Returns file URLs for one test; no other test requests them. */
let place: string;
let tests = 0;
beforeEach(() => {
  place = `/${(tests += 1)}`;
  origin.serve(`${place}/dial.js`, script('first'), { contentType: 'text/javascript' });
  origin.serve(`${place}/dial.css`, style('first'), { contentType: 'text/css' });
});

/** A media or widget entry in a package's manifest.json. */
const dial = () => ({
  widgetType: 'Dial',
  sourceUrl: origin.url(`${place}/dial.js`),
  cssSourceUrl: origin.url(`${place}/dial.css`),
});

async function build(
  widgets: object[],
  { organization } = api as Pick<typeof api, 'organization'>,
): Promise<LessonVersion> {
  const types = widgets.map((widget) => (widget as { widgetType: string }).widgetType);
  const blocks = () => types.map((type, index) => ({ type, props: { id: `block-${index}` } }));
  return buildVersion(api, organization, (await buildPackage({ widgets, blocks })).path);
}

const archiveOf = (version: LessonVersion) => downloadExport(api.url, version, api.headers);

async function played(version: LessonVersion, name: string): Promise<string> {
  const { status, body } = await follow(api.url, widgetPath(version, name));
  return status === 200 ? body.toString() : String(status);
}

test('the archive contains the module and stylesheet from their URLs, under an id made of type and URLs', async () => {
  const version = await build([dial()]);
  const { files, manifest } = await archiveOf(version);
  const [widget] = manifest.files.widgets;
  expect(manifest.failedWidgets).toEqual([]);
  expect(widget).toMatchObject({
    widgetType: 'Dial',
    localPath: expect.stringMatching(/^\.\/widgets\/dial-[0-9a-f]{8}\.js$/) as string,
    cssLocalPath: widget?.localPath.replace(/js$/, 'css'),
    size: script('first').length,
  });
  const path = widget?.localPath.slice(2) ?? '';
  expect(files.get(path)?.toString()).toBe(script('first'));
  expect(files.get(path.replace(/js$/, 'css'))?.toString()).toBe(style('first'));
  expect(origin.requests(`${place}/dial.js`)).toBe(1);
  // Once file by file, and once in the page of a self-contained archive.
  const { archive } = await expectSameFiles(
    { api: api.url, headers: api.headers, query: '?include=player' },
    version,
  );
  expect(archive.files.get('index.html')?.toString()).toContain('The dial is first');
  expect(archive.files.get('index.html')?.toString()).not.toContain('<script>window.broken');
  // Another version has the same URLs and therefore the same id, although their bytes changed.
  origin.serve(`${place}/dial.js`, script('second'));
  const next = await archiveOf(await build([dial()]));
  expect(next.manifest.files.widgets[0]?.localPath).toBe(widget?.localPath);
  expect(next.files.get(path)?.toString()).toBe(script('second'));
});

test('a learner gets both files from Lectern before any archive exists, and while the origin is down', async () => {
  const version = await build([dial()]);
  const answered = await ask(api.url + widgetPath(version, 'Dial.js'));
  expect([answered.status, answered.headers.get('location')]).toEqual([
    302,
    expect.stringMatching(/\/assets\/v1\/cache\/[0-9a-f]{64}\/\d+\/text\/javascript\/dial-[0-9a-f]{8}\.js\?/),
  ]);
  expect(await played(version, 'Dial.css')).toBe(style('first'));
  for (const name of ['js', 'css']) origin.script(`${place}/dial.${name}`, answer(503));
  await api.db.remoteFiles.updateMany({}, { checkedAt: new Date(0) });
  const otherApi = await api.startApi();
  expect((await follow(otherApi, widgetPath(version, 'Dial.js'))).body.toString()).toBe(script('first'));
  expect((await archiveOf(version)).manifest.failedWidgets).toEqual([]);
});

test("a rebuilt version has the bytes of its record, although the origin's bytes changed", async () => {
  const version = await build([dial()]);
  const before = await archiveOf(version);
  origin.serve(`${place}/dial.js`, script('second'));
  origin.script(`${place}/dial.css`, answer(404));
  await api.store.archives.delete(exportJobOf(version).key);
  expect((await archiveOf(version)).bytes.equals(before.bytes)).toBe(true);
});

test('importing an exported package registers a release with those bytes, and the lesson is unchanged', async () => {
  const exported = await archiveOf(await build([dial()]));
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'a.zip'), exported.bytes);
  const requests = origin.log.length;
  const again = await buildVersion(api, api.organization, join(folder, 'a.zip'));
  expect(again.widgets.map(({ type }) => type)).toEqual(['Dial']);
  const { lesson, files } = await archiveOf(again);
  expect(lesson).toEqual(exported.lesson);
  expect([...files.values()].map(String)).toContain(script('first'));
  expect(origin.log).toHaveLength(requests);
});

test('importing an archive restores a widget that the export could not fetch', async () => {
  origin.script(`${place}/dial.js`, answer(404));
  const exported = await archiveOf(await build([dial()]));
  const { sourceUrl, cssSourceUrl } = dial();
  const [failure] = exported.manifest.failedWidgets;
  expect(failure).toMatchObject({
    widgetType: 'Dial',
    sourceUrl,
    cssSourceUrl,
    reason: 'not_found',
    status: 404,
  });
  origin.serve(`${place}/dial.js`, script('second'));
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'a.zip'), exported.bytes);
  const again = await archiveOf(await buildVersion(api, api.organization, join(folder, 'a.zip')));
  expect(again.manifest.failedWidgets).toEqual([]);
  expect(again.files.get(`widgets/${failure?.id}.js`)?.toString()).toBe(script('second'));
  expect(again.files.get(`widgets/${failure?.id}.css`)?.toString()).toBe(style('first'));
});

test('a core type always uses Lectern’s own code, even when a package gives a URL for it', async () => {
  const version = await build([{ ...dial(), widgetType: 'Heading' }]);
  expect(await played(version, 'Heading.js')).toBe((await readCoreBundle('Heading')).js.toString());
  expect((await archiveOf(version)).manifest.failedWidgets).toEqual([]);
  expect(origin.requests(`${place}/dial.js`)).toBe(0);
});

test('another organization has its own URLs for a type, and none of these', async () => {
  const theirs = await buildOrganization(api);
  await build([dial()]);
  const blocks = () => [{ type: 'Dial', props: { id: 'a' } }];
  const bare = await buildVersion(api, theirs.organization, (await buildPackage({ blocks })).path);
  expectError(await ask(api.url + widgetPath(bare, 'Dial.js')), 404, 'Widget not found');
  origin.serve(`${place}/theirs.js`, script('theirs'));
  const sourceUrl = origin.url(`${place}/theirs.js`);
  const own = await build([{ widgetType: 'Dial', sourceUrl }], theirs);
  expect(await played(own, 'Dial.js')).toBe(script('theirs'));
  expectError(await ask(api.url + widgetPath(own, 'Dial.css')), 404, 'Widget not found');
});

/**
 * Responses of the module's URL, with the reason for a failure; without a reason the archive
 * contains it. external-media.test.ts has the failures of downloads.
 */
const modules: Record<string, { plays: [Behavior, ...Behavior[]]; reason?: string; status?: number }> = {
  'a module': { plays: [file(script('a'))] },
  'nothing there': { plays: [answer(404)], reason: 'not_found', status: 404 },
  'a page served as HTML': {
    plays: [file('<p>gone', { contentType: 'text/html' })],
    reason: 'bad_type',
  },
  'a page served as a script': {
    plays: [file('<!doctype html><title>gone</title>', { contentType: 'text/javascript' })],
    reason: 'bad_type',
  },
  'a blank file': { plays: [file(' \n')], reason: 'bad_type' },
  'a picture': { plays: [file(png(1))], reason: 'bad_type' },
  'a syntax error': { plays: [file('export default { const };')], reason: 'bad_type' },
  'a script without a default export': { plays: [file('window.dial = {};')], reason: 'bad_type' },
  'an import of another file': {
    plays: [file(`import x from './x.js';\nexport default x;`)],
    reason: 'bad_type',
  },
  'an import of a package': { plays: [file(`export { default } from 'dial';`)], reason: 'bad_type' },
};

const stylesheets: Record<string, { plays: [Behavior]; reason?: string; status?: number }> = {
  'a stylesheet': { plays: [file(style('a'))] },
  'an attribute selector first': { plays: [file('[hidden] { display: none }')] },
  'a page as a stylesheet': {
    plays: [file('<!-- x -->\n<html></html>', { contentType: 'text/css' })],
    reason: 'bad_type',
  },
  'JSON as a stylesheet': { plays: [file('["gone"]')], reason: 'bad_type' },
  'an empty stylesheet': { plays: [file(' \n')], reason: 'bad_type' },
};

test('every file ends as expected, the manifest names failures, and none of them fails the export', async () => {
  const widgets: { widgetType: string; sourceUrl: string; cssSourceUrl?: string }[] = [];
  const expected: Omit<FailedWidget, 'id'>[] = [];
  const add = (
    name: string,
    paths: { js: string; css?: string },
    failure?: { of: string; reason?: string | undefined; status?: number | undefined },
  ) => {
    const widgetType = `Dial ${name}`;
    const cssSourceUrl = paths.css === undefined ? {} : { cssSourceUrl: paths.css };
    widgets.push({ widgetType, sourceUrl: paths.js, ...cssSourceUrl });
    if (failure?.reason === undefined) return;
    const reason = failure.reason as FailedWidget['reason'];
    const status = failure.status === undefined ? {} : { status: failure.status };
    expected.push({ widgetType, sourceUrl: failure.of, reason, ...status });
  };
  for (const [name, { plays, reason, status }] of Object.entries(modules)) {
    const path = `${place}/${widgets.length}.js`;
    origin.script(path, ...plays);
    add(name, { js: origin.url(path) }, { of: origin.url(path), reason, status });
  }
  for (const [name, { plays, reason, status }] of Object.entries(stylesheets)) {
    const path = `${place}/${widgets.length}.css`;
    origin.script(path, ...plays);
    const css = origin.url(path);
    add(name, { js: origin.url(`${place}/dial.js`), css }, { of: css, reason, status });
  }
  origin.script(`${place}/inward.js`, redirectTo(forbidden.url('/secret.js')));
  forbidden.serve('/secret.js', script('secret'));
  const login = new URL(origin.url(`${place}/dial.js`));
  login.username = 'me';
  for (const [name, url, reason] of [
    ['a redirect inward', origin.url(`${place}/inward.js`), 'blocked_address'],
    ['a private address', forbidden.url('/secret.js'), 'blocked_address'],
    ['a URL with a login', login.href, 'blocked_address'],
  ] as const) {
    add(name, { js: url }, { of: url, reason });
  }

  const version = await build(widgets);
  const { manifest, files } = await archiveOf(version);
  const byType = (one: { widgetType: string }, other: { widgetType: string }) =>
    one.widgetType < other.widgetType ? -1 : 1;
  const named = manifest.failedWidgets.map(({ id, ...rest }) => {
    expect(id).toMatch(/^dial-.*-[0-9a-f]{8}$/);
    return rest;
  });
  expect(named.sort(byType)).toEqual(expected.sort(byType));
  expect(forbidden.log).toEqual([]);

  // A widget without its stylesheet is exported; one without its module is not.
  const moduleFailed = expected.filter(({ sourceUrl }) => !sourceUrl?.endsWith('.css'));
  const there = widgets.filter(
    ({ widgetType }) => !moduleFailed.some((one) => one.widgetType === widgetType),
  );
  expect(manifest.files.widgets.map(({ widgetType }) => widgetType).sort()).toEqual(
    there.map(({ widgetType }) => widgetType).sort(),
  );
  const styled = manifest.files.widgets.filter(({ cssLocalPath }) => cssLocalPath !== undefined);
  expect(styled.map(({ widgetType }) => widgetType).sort()).toEqual([
    'Dial a stylesheet',
    'Dial an attribute selector first',
  ]);
  for (const { localPath, cssLocalPath } of manifest.files.widgets) {
    for (const path of [localPath, cssLocalPath ?? localPath]) expect(files.has(path.slice(2))).toBe(true);
  }
  // The archive expires soon, and no record makes later builds repeat it.
  expect(await api.store.archives.open(exportJobOf(version).key)).toBeNull();
  const degraded = await api.store.archives.open(incompleteKey(exportJobOf(version).key));
  expect(degraded).not.toBeNull();
  await degraded?.close();

  // A learner gets the same files as the archive.
  expect(await played(version, 'Dial a module.js')).toBe(script('a'));
  for (const name of ['Dial a picture.js', 'Dial JSON as a stylesheet.css']) {
    expectError(await ask(api.url + widgetPath(version, name)), 404, 'Widget not available');
  }
}, 90_000);
