import { isCoreWidget } from '../lessons/core-widgets.ts';
import type { PackageFile, PackageWidget } from './lesson-package.ts';
import { listedFile, localPathIn } from './local-file.ts';
import type { PackageManifest } from './manifest.ts';
import type { FaultList } from './package-error.ts';
import type { PackageSource } from './package-source.ts';

/**
 * The widgets that a package brings. Core widgets have to be whole as every listed file does, but are not returned:
 * a core type is always Lectern's own.
 */
export function packageWidgets(
  manifest: PackageManifest,
  source: PackageSource,
  faults: FaultList,
): PackageWidget[] {
  const seen = new Map<string, string>();
  return manifest.files.widgets.flatMap((entry, index): PackageWidget[] => {
    const path = `files.widgets[${index}]`;
    const place = `manifest.json: ${path}`;
    const { widgetType: type, localPath, cssLocalPath, size, cssSize, sha256, cssSha256 } = entry;
    const twin = seen.get(type);
    if (twin !== undefined) {
      faults.add(`${place}.widgetType`, `duplicate of ${twin}.widgetType`);
      return [];
    }
    seen.set(type, path);
    const find = (listed: string, field: string, bytes?: number): PackageFile | undefined => {
      const safe = localPathIn('widgets', listed, `${place}.${field}`, faults);
      return safe === undefined ? undefined : listedFile(source, safe, { place, field, size: bytes }, faults);
    };
    const js = find(localPath, 'localPath', size);
    const css = cssLocalPath === undefined ? undefined : find(cssLocalPath, 'cssLocalPath', cssSize);
    if (js === undefined || isCoreWidget(type)) return [];
    return [{ type, js, ...(css && { css }), ...(sha256 && { sha256 }), ...(cssSha256 && { cssSha256 }) }];
  });
}
