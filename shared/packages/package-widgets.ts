import { isCoreWidget } from '../lessons/core-widgets.ts';
import type { PackageExternalWidget, PackageFile, PackageWidget } from './lesson-package.ts';
import { listedFile, localPathIn, packageFile } from './local-file.ts';
import type { ManifestEntries, PackageManifest } from './manifest.ts';
import type { FaultList } from './package-error.ts';
import type { PackageSource } from './package-source.ts';
import { httpUrl } from './text-shapes.ts';

/** The maximum per package, because builds and learners' requests download and parse each one. */
const maxExternalWidgets = 100;

interface PackageWidgets {
  widgets: PackageWidget[];
  externalWidgets: PackageExternalWidget[];
}

/**
 * Returns the widgets of a package, from their files if it has them, else from their URLs, including widgets that the
 * export failed to download. Core widgets are checked like all listed files, but not returned: core types are always
 * Lectern's own.
 */
export function packageWidgets(
  manifest: ManifestEntries,
  source: PackageSource,
  faults: FaultList,
): PackageWidgets {
  const found: PackageWidgets = { widgets: [], externalWidgets: [] };
  const seen = new Map<string, string>();
  for (const [index, entry] of manifest.files.widgets.entries()) {
    if (entry === undefined) continue;
    const path = `files.widgets[${index}]`;
    const twin = seen.get(entry.widgetType);
    if (twin === undefined) addListed(found, entry, `manifest.json: ${path}`, source, faults);
    else faults.add(`manifest.json: ${path}.widgetType`, `duplicate of ${twin}.widgetType`);
    seen.set(entry.widgetType, twin ?? path);
  }
  for (const entry of manifest.failedWidgets) {
    if (entry === undefined) continue;
    if (!seen.has(entry.widgetType)) addFailed(found, entry, source);
    seen.set(entry.widgetType, 'failedWidgets');
  }
  const count = found.externalWidgets.length;
  if (count > maxExternalWidgets) {
    faults.add(
      'manifest.json: files.widgets',
      `has ${count} widgets by URL; at most ${maxExternalWidgets} are allowed. Put the files of some into widgets/`,
    );
  }
  return found;
}

function addListed(
  { widgets, externalWidgets }: PackageWidgets,
  entry: PackageManifest['files']['widgets'][number],
  place: string,
  source: PackageSource,
  faults: FaultList,
): void {
  const { widgetType: type, localPath, cssLocalPath, size, cssSize, sha256, cssSha256 } = entry;
  const { sourceUrl, cssSourceUrl } = entry;
  const safePath = (listed: string | undefined, field: string) =>
    listed === undefined ? undefined : localPathIn('widgets', listed, `${place}.${field}`, faults);
  const jsPath = safePath(localPath, 'localPath');
  const cssPath = safePath(cssLocalPath, 'cssLocalPath');
  if (localPath === undefined && sourceUrl === undefined) {
    faults.add(place, 'has neither a localPath nor a sourceUrl');
    return;
  }
  if (sourceUrl !== undefined && (jsPath === undefined || source.find(jsPath) === undefined)) {
    if (!isCoreWidget(type)) externalWidgets.push({ type, sourceUrl, cssSourceUrl: cssSourceUrl ?? null });
    return;
  }
  if (cssLocalPath === undefined && cssSourceUrl !== undefined) {
    faults.add(
      `${place}.cssSourceUrl`,
      'needs a sourceUrl and no file: give the stylesheet of a file as cssLocalPath',
    );
  }
  const find = (path: string | undefined, field: string, bytes?: number): PackageFile | undefined =>
    path === undefined ? undefined : listedFile(source, path, { place, field, size: bytes }, faults);
  const js = find(jsPath, 'localPath', size);
  const css = find(cssPath, 'cssLocalPath', cssSize);
  if (js === undefined || isCoreWidget(type)) return;
  widgets.push({ type, js, ...(css && { css }), ...(sha256 && { sha256 }), ...(cssSha256 && { cssSha256 }) });
}

/** Adds a widget that the export failed to download: from its file if it was added later, else from its URL. */
function addFailed(
  { widgets, externalWidgets }: PackageWidgets,
  { widgetType: type, id, sourceUrl, cssSourceUrl }: PackageManifest['failedWidgets'][number],
  source: PackageSource,
): void {
  if (isCoreWidget(type)) return;
  const js = id === null || id === undefined ? undefined : packageFile(source, `widgets/${id}.js`);
  if (js !== undefined) {
    const css = packageFile(source, `widgets/${id}.css`);
    widgets.push({ type, js, ...(css && { css }) });
    return;
  }
  const url = httpUrl(sourceUrl);
  if (url !== undefined)
    externalWidgets.push({ type, sourceUrl: url, cssSourceUrl: httpUrl(cssSourceUrl) ?? null });
}
