import * as example from '../http/examples.ts';
import type { ImportBody } from './present-import.ts';

const id = '9b2f6c1e-4d3a-4f57-8a0b-6c5d4e3f2a10';

export const uploading: ImportBody = {
  id,
  status: 'uploading',
  fileName: 'tides.zip',
  upload: { size: 73_040, offset: 0 },
  progress: { done: 0, total: 0, bytes: 0 },
  report: null,
  error: null,
  createdAt: '2026-11-21T09:12:04.000Z',
  endedAt: null,
};

export const importing: ImportBody = {
  ...uploading,
  status: 'importing',
  upload: { size: 73_040, offset: 73_040 },
  progress: { done: 1, total: 3, bytes: 20_480 },
};

export const imported: ImportBody = {
  ...importing,
  status: 'imported',
  progress: { done: 3, total: 3, bytes: 61_440 },
  report: {
    lessonId: example.lessonId,
    versionId: example.versionId,
    versionNumber: 1,
    slug: 'tides',
    published: false,
    media: 3,
    widgets: 0,
    warnings: [],
    preview: null,
  },
  endedAt: '2026-11-21T09:12:09.000Z',
};

export const failed: ImportBody = {
  ...importing,
  status: 'failed',
  error: {
    code: 'INVALID_CONTENT',
    message: 'Cannot import tides.zip:\n  tides.zip: is not a ZIP archive',
  },
  endedAt: '2026-11-21T09:12:05.000Z',
};
