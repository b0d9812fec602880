import { describe, expect, test } from 'vitest';
import { manifestOf, messageOfFailure, readFiles } from './package-folder.ts';
import type { PackageFiles } from './package-folder.ts';

const url = 'https://widgets.example/dial.js';
const css = 'https://widgets.example/dial.css';

/** Reads a package with this entry in files.widgets, and these files. */
async function widgetsOf(entry: object, files: PackageFiles = {}) {
  const manifest = manifestOf([], [{ widgetType: 'Dial', ...entry }]);
  const pkg = await readFiles({ 'manifest.json': manifest, ...files });
  await pkg.close();
  return {
    files: pkg.widgets.map((widget) => [widget.js.path, widget.css?.path ?? null]),
    urls: pkg.externalWidgets,
  };
}

test('a widget is read from its URLs', async () => {
  expect(await widgetsOf({ sourceUrl: url, cssSourceUrl: css })).toEqual({
    files: [],
    urls: [{ type: 'Dial', sourceUrl: url, cssSourceUrl: css }],
  });
});

test('an existing file wins over a URL, and a URL over a missing file', async () => {
  const entry = { localPath: './widgets/dial.js', sourceUrl: url };
  expect(await widgetsOf(entry, { 'widgets/dial.js': 'export default {}' })).toEqual({
    files: [['widgets/dial.js', null]],
    urls: [],
  });
  expect(await widgetsOf(entry)).toEqual({
    files: [],
    urls: [{ type: 'Dial', sourceUrl: url, cssSourceUrl: null }],
  });
});

test('a failed widget is read from the file added at its path', async () => {
  const failed = { widgetType: 'Dial', id: 'dial-1', sourceUrl: url, reason: 'not_found' };
  const pkg = await readFiles({
    'manifest.json': manifestOf([], [], { failedWidgets: [failed, { widgetType: 'Nowhere', id: null }] }),
    'widgets/dial-1.js': 'export default {}',
    'widgets/dial-1.css': 'a {}',
  });
  await pkg.close();
  expect(pkg.widgets.map(({ type, js, css: styles }) => [type, js.path, styles?.path])).toEqual([
    ['Dial', 'widgets/dial-1.js', 'widgets/dial-1.css'],
  ]);
  expect(pkg.externalWidgets).toEqual([]);
});

describe('a package is rejected', () => {
  const place = 'manifest.json: files.widgets[0]';
  test.each<[string, object, string, PackageFiles?]>([
    ['with neither file nor URL', {}, `${place}: has neither a localPath nor a sourceUrl`],
    [
      'with a URL that is not an http URL',
      { sourceUrl: 'data:text/javascript,1' },
      `${place}.sourceUrl: must be an http or https URL`,
    ],
    [
      'with an overlong URL',
      { sourceUrl: `${url}?${'x'.repeat(8192)}` },
      `${place}.sourceUrl: must be at most 8192 characters`,
    ],
    [
      'with a file and the URL of a stylesheet',
      { localPath: './widgets/dial.js', cssSourceUrl: css },
      `${place}.cssSourceUrl: needs a sourceUrl and no file: give the stylesheet of a file as cssLocalPath`,
      { 'widgets/dial.js': 'export default {}' },
    ],
  ])('%s', async (_what, entry, message, files) => {
    expect(await messageOfFailure(widgetsOf(entry, files))).toBe(message);
  });

  test('with more than 100 widgets by URL', async () => {
    const widgets = Array.from({ length: 101 }, (_, index) => ({ widgetType: `W${index}`, sourceUrl: url }));
    expect(await messageOfFailure(readFiles({ 'manifest.json': manifestOf([], widgets) }))).toBe(
      'manifest.json: files.widgets: has 101 widgets by URL; at most 100 are allowed. Put the files of some into widgets/',
    );
  });
});
