import { record } from '../props.ts';
import type { WidgetCode } from '../widget.ts';
import type { WidgetSource } from './widget-loader.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';
import { abortAfter } from '../older-browsers.ts';

/** An unpacked archive: the folder of lesson.json. */
export interface Archive {
  lesson: unknown;
  /** Undefined without a manifest. */
  versionId: string | undefined;
  /** Those of the manifest. */
  attributions: unknown;
  resolveMedia(this: void, src: string): string;
  loadWidget: WidgetSource;
}

const fetchTimeoutMs = 30_000;

/**
 * Reads an unpacked archive. The manifest is optional: without it, `media:` references and custom widgets stay unknown.
 *
 * @param base URL of its folder, relative to the page; with or without a slash at the end
 * @throws when lesson.json cannot be read
 */
export async function openArchive(base: string | URL, signal: AbortSignal): Promise<Archive> {
  const folder = new URL(base, document.baseURI);
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  folder.search = folder.hash = '';
  const [lesson, manifest] = await Promise.all([
    readJson(new URL('lesson.json', folder), signal),
    readJson(new URL('manifest.json', folder), signal).catch(() => ({})),
  ]);
  const { versionId, files, attributions } = record(manifest);
  const { media, widgets } = record(files);

  /** Returns the URL of a file inside the folder; undefined for other paths: a manifest must not run other code. */
  function inFolder(path: unknown): string | undefined {
    const href = typeof path === 'string' ? parseUrl(path, folder)?.href : undefined;
    return href?.startsWith(folder.href) ? href : undefined;
  }

  const paths = new Map(
    list(media).map(({ id, localPath }) => [String(id).toLowerCase(), inFolder(localPath)]),
  );
  return {
    lesson,
    attributions,
    versionId: typeof versionId === 'string' ? versionId : undefined,
    resolveMedia(src) {
      if (/^\.\/media\//i.test(src)) return inFolder(src) ?? src;
      const id = /^media:(.+)$/i.exec(src)?.[1]?.toLowerCase();
      return (id === undefined ? undefined : paths.get(id)) ?? src;
    },
    async loadWidget(type) {
      const entry = list(widgets).find(({ widgetType }) => widgetType === type);
      const module = inFolder(entry?.localPath);
      return module === undefined ? null : fetchWidget(module, inFolder(entry?.cssLocalPath));
    },
  };
}

async function readJson(url: URL, signal: AbortSignal): Promise<unknown> {
  return (await fetchFile(url.href, signal)).json();
}

/** Fetches the code of a widget. Its stylesheet may be missing: an unstyled widget is better than none. */
export async function fetchWidget(moduleUrl: string, cssUrl: string | undefined): Promise<WidgetCode> {
  const read = async (url: string) => (await fetchFile(url)).text();
  const [js, css] = await Promise.all([
    read(moduleUrl),
    cssUrl === undefined ? null : read(cssUrl).catch(() => null),
  ]);
  return { js, css };
}

async function fetchFile(url: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(url, { signal: abortAfter(fetchTimeoutMs, signal) });
  if (!response.ok) throw new Error(`${url} returned status ${response.status}`);
  return response;
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}
