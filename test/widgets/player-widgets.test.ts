import { describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { readCoreBundle } from '../../shared/widgets/core-bundles.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { ask, expectError } from '../support/answers.ts';
import { follow, widgetPath } from '../player/player-files.ts';
import { useApi } from '../support/use.ts';

const api = useApi();

async function build(types: string[], owner = api.organization): Promise<LessonVersion> {
  const blocks = () => types.map((type, index) => ({ type, props: { id: `block-${index}` } }));
  const { path } = await buildPackage({ blocks });
  return buildVersion(api, owner, path);
}

function register(type: string, js: string, css: string | null = null, owner = api.organization) {
  return releaseWidget(api.db, api.store, {
    organizationId: owner._id,
    type,
    js: bytesOf(Buffer.from(js)),
    css: css === null ? null : bytesOf(Buffer.from(css)),
  });
}

async function textOf(version: LessonVersion, file: string): Promise<string> {
  const { status, body } = await follow(api.url, widgetPath(version, file));
  return status === 200 ? body.toString() : String(status);
}

test('script and styles of a core widget redirect to the files of its release', async () => {
  const version = await build(['Heading']);
  const { js, css } = await readCoreBundle('Heading');
  for (const [file, bytes, type] of [
    ['Heading.js', js, 'text/javascript; charset=utf-8'],
    ['Heading.css', css, 'text/css; charset=utf-8'],
  ] as const) {
    const { status, headers } = await ask(api.url + widgetPath(version, file));
    expect(status).toBe(302);
    expect(headers.get('cache-control')).toBe('private, max-age=1800');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const served = await follow(api.url, widgetPath(version, file));
    expect(served.headers.get('content-type')).toBe(type);
    expect(served.headers.get('content-disposition')).toBeNull();
    expect(served.body.equals(Buffer.from(bytes ?? ''))).toBe(true);
  }
});

describe("an organization's own widget", () => {
  test('is the release that publishing the version pinned, whatever was released since', async () => {
    await register('Pinned', 'first', '.first {}');
    const version = await build(['Pinned']);
    await register('Pinned', 'second', '.second {}');
    expect(await textOf(version, 'Pinned.js')).toBe('first');
    expect(await textOf(version, 'Pinned.css')).toBe('.first {}');
    expect(await textOf(await build(['Pinned']), 'Pinned.js')).toBe('second');
  });

  test('is the newest release, once there is one, in a version published without the widget', async () => {
    const version = await build(['Later']);
    expectError(await ask(api.url + widgetPath(version, 'Later.js')), 404, 'Widget not found');
    await register('Later', 'first');
    await register('Later', 'second');
    expect(await textOf(version, 'Later.js')).toBe('second');
  });

  test('is each organization’s own', async () => {
    const theirs = (await buildOrganization(api)).organization;
    await register('Shared', 'ours');
    await register('Shared', 'theirs', null, theirs);
    expect(await textOf(await build(['Shared']), 'Shared.js')).toBe('ours');
    expect(await textOf(await build(['Shared'], theirs), 'Shared.js')).toBe('theirs');
  });

  test('may have a type of any characters', async () => {
    const types = ['My widget/β?', 'with.js', 'a%2Fb', '..', 'Ünïcode'];
    for (const type of types) await register(type, `script of ${type}`);
    const version = await build(types);
    for (const type of types) expect(await textOf(version, `${type}.js`)).toBe(`script of ${type}`);
  });
});

test('other files, a missing stylesheet, and widgets that the version does not use get 404', async () => {
  await register('Plain', 'script');
  await register('Unused', 'script');
  const version = await build(['Heading', 'Plain']);
  const unknown = ['Heading', 'Heading.mjs', 'heading.js', 'Unknown.js', '.js', 'constructor.js', '%.js'];
  for (const file of [...unknown, 'Plain.css', 'Unused.js', 'Video.js'])
    expectError(await ask(api.url + widgetPath(version, file)), 404, 'Widget not found');
});
