import { lessonId, mediaId, versionId } from '../http/examples.ts';

/** Examples of exports, about the lesson of api/http/examples.ts. */

const nothing = { done: 0, total: 0, bytes: 0 };

export const queued = { status: 'queued', progress: nothing, position: 3 };
export const building = { status: 'building', progress: { done: 14, total: 22, bytes: 612_340 } };
export const ready = { status: 'ready', progress: { done: 22, total: 22, bytes: 874_018 } };
export const failed = {
  status: 'failed',
  progress: nothing,
  error: { code: 'INVALID_CONTENT', message: 'The content of this version is missing.' },
};

const expiresAt = '2026-11-21T13:14:31.000Z';
const picture = 'cd153ed5337e47c9c2ae02ae4e95507550664949bc424ded43ed2df8ab99ff77';
const script = '2a3dc6ed6663e7f51ae1b7d87824276c3f87a61835853fdad594093948d75bd5';
const lesson = '76cce59f759af3da31295b5e82a9ceb94ae2311a8123282a8c7494753318cb75';
const signed = (file: string) =>
  `https://lessons.example/assets/v1/${file}?expires=1795266871&signature=Wn3vYb0m3mmE9wq2hWb9p3lY1Zf0a7Kc5rT8uJx6dSg`;

export const manifest = {
  lessonId,
  title: 'How Tides Work',
  versionNumber: 1,
  versionId,
  publishedAt: '2026-11-20T15:01:00.412Z',
  exportedAt: '2026-11-20T15:04:12.090Z',
  formatVersion: '1.0.0',
  files: {
    lesson: {
      path: './lesson.json',
      url: signed(`cache/${lesson}/20480/application/json/lesson.json`),
      expiresAt,
    },
    media: [
      {
        id: mediaId,
        localPath: `./media/${mediaId}.png`,
        mimeType: 'image/png',
        size: 73_040,
        sha256: picture,
        url: signed(`assets/${picture}/73040/image/png/${mediaId}.png`),
        expiresAt,
      },
    ],
    widgets: [
      {
        widgetType: 'Dial',
        localPath: './widgets/dial-2a3dc6ed.js',
        size: 4_096,
        sha256: script,
        url: signed(`assets/${script}/4096/text/javascript/dial-2a3dc6ed.js`),
        expiresAt,
      },
    ],
  },
  failedMedia: [],
  failedWidgets: [],
  attributions: [],
};
