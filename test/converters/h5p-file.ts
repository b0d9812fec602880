import { expect } from 'vitest';
import { isContainer, recordOf } from '../../shared/lessons/json-values.ts';
import { bytesOf } from '../packages/package-folder.ts';
import { zipBytes } from '../packages/zip-builder.ts';
import { convertFile } from './convert.ts';
import type { ConvertedFile } from './convert.ts';

export interface H5pFile {
  /** The type without `H5P.`, such as `MultiChoice`. */
  type: string;
  params: unknown;
  /** Members of h5p.json. */
  info?: Record<string, unknown>;
  /** The names of files in the folder `content`. */
  files?: string[];
}

/** A picture of one pixel. */
export const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Builds an H5P file without libraries. */
export function h5pBytes({ type, params, info = {}, files = [] }: H5pFile): Buffer {
  const about = { title: 'Tides', language: 'en', mainLibrary: `H5P.${type}`, embedTypes: ['div'], ...info };
  return zipBytes([
    { name: 'h5p.json', content: JSON.stringify(about) },
    { name: 'content/content.json', content: typeof params === 'string' ? params : JSON.stringify(params) },
    ...files.map((name) => ({
      name: `content/${name}`,
      content: name.endsWith('.png') ? pixel : bytesOf(name),
    })),
  ]);
}

export function convertH5p(file: H5pFile): Promise<ConvertedFile> {
  return convertFile('tides.h5p', h5pBytes(file));
}

/** A content within another. */
export function sub(type: string, params: unknown, metadata: object = {}): Record<string, unknown> {
  return {
    library: `H5P.${type} 1.1`,
    params,
    metadata,
    subContentId: 'c4a760a8-0b2e-4f55-9f2a-1c77ba6e0f0a',
  };
}

/** Returns the types of the contents in a file, and its other files, found without the converter. */
export function elementsOf({ type, params, files = [] }: H5pFile): string[] {
  const found = [`H5P.${type}`, ...files.map(() => 'file')];
  const visit = (value: unknown) => {
    if (!isContainer(value)) return;
    const { library } = recordOf(value);
    if (typeof library === 'string') found.push(library.split(' ')[0] ?? '');
    for (const member of Object.values(value)) visit(member);
  };
  visit(params);
  return found.sort();
}

export const text = (html: string) => sub('AdvancedText', { text: html });

export function image(path: string, metadata: object = {}): Record<string, unknown> {
  return sub('Image', { file: { path, mime: 'image/png' }, alt: 'Low &amp; high' }, metadata);
}

/** A file, the blocks of its first step, and what is lost of it. */
export type H5pCase = [string, H5pFile, object[], (string | null)?];

/** Converts a file, and expects these blocks in its first step, this loss, and each of its elements in the report. */
export async function expectConversion(file: H5pFile, blocks: object[], loss: string | null): Promise<void> {
  const { content, entries } = await convertH5p(file);
  expect(content.sections[0]?.steps[0]?.content.content).toMatchObject(blocks);
  const [first] = entries;
  expect([first?.kind, first?.reason]).toEqual([`H5P.${file.type}`, loss]);
  expect(first?.result).toBe(loss === null ? 'converted' : 'partial');
  expect(entries.map(({ kind }) => kind).sort()).toEqual(elementsOf(file));
}
