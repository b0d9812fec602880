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
  mediaFileId: null,
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

export const imported = {
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
    conversion: null,
    preview: null,
  },
  endedAt: '2026-11-21T09:12:09.000Z',
} satisfies ImportBody;

/** It was made of a question bank. */
export const converted: ImportBody = {
  ...imported,
  fileName: 'tides.gift',
  report: {
    ...imported.report,
    media: 0,
    conversion: {
      format: 'gift',
      ...{ converted: 12, partial: 1, kept: 0, dropped: 0 },
      entries: [
        {
          path: 'tides.gift:3',
          kind: 'shortanswer',
          title: 'Which tide comes at full moon?',
          result: 'partial',
          reason: 'answers no longer earn 50 %',
          stepId: 'step-3f2a10c1de',
          blockId: 'FillInTheBlanks-6c5d4e3f2a',
        },
      ],
    },
  },
};

export const failed: ImportBody = {
  ...importing,
  status: 'failed',
  error: {
    code: 'INVALID_CONTENT',
    message:
      'Cannot import tides.zip:\n  tides.zip: is a truncated or damaged ZIP archive (End of central directory record signature not found.)',
  },
  endedAt: '2026-11-21T09:12:05.000Z',
};
