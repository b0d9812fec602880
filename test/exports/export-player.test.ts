import { beforeAll, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { takeApart } from './exports.ts';
import type { Export } from './exports.ts';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';
import { expectFailure } from '../support/answers.ts';
import { onDemandTypes } from '../../shared/lessons/core-widgets.ts';
import type { Answer } from '../support/answers.ts';

const playerPaths = [
  'player/Temml.woff2',
  'player/archive-page.js',
  'player/callbacks.js',
  'player/player.classic.js',
  'player/player.css',
  'player/player.d.ts',
  'player/player.js',
  ...onDemandTypes.map((type) => `player/widget-${type}.js`).sort(),
];

const lab = useExportLab({}, { worker: true });
let version: LessonVersion;
let plain: Answer;
let answer: Answer;
let playing: Export;

const get = (query: string, headers: Record<string, string> = {}) => lab.get(version, { query, headers });

beforeAll(async () => {
  version = await lab.build(png(1));
  // Both at once, with one job each.
  [plain, answer] = await Promise.all([get(''), get('?include=player')]);
  playing = await takeApart(answer.body);
});

test('with the player, the archive has the same files plus the page and the player', async () => {
  const without = await takeApart(plain.body);
  const names = [...without.files.keys()];
  expect([...playing.files.keys()]).toEqual([
    ...names.slice(0, -2),
    ...playerPaths,
    'index.html',
    'lesson.json',
    'manifest.json',
  ]);
  for (const name of names.slice(0, -1)) {
    expect(playing.files.get(name)?.equals(without.files.get(name) ?? Buffer.alloc(0))).toBe(true);
  }
  expect(playing.folder).toBe(without.folder);
});

test('the player in the archive is the one that ships with Lectern', async () => {
  const { files } = await playerRelease();
  for (const path of playerPaths) {
    expect(playing.files.get(path)?.equals(files.get(path.slice('player/'.length)) ?? Buffer.alloc(0))).toBe(
      true,
    );
  }
});

test('manifest.json lists the page and the player with size and digest, and is otherwise the same', async () => {
  const { manifest: without } = await takeApart(plain.body);
  const { player, ...files } = playing.manifest.files;
  expect({ ...playing.manifest, files, exportedAt: '' }).toEqual({ ...without, exportedAt: '' });
  expect(player).toEqual(
    ['index.html', ...playerPaths].map((path) => {
      const { size, sha256 } = digestOf(playing.files.get(path) ?? Buffer.alloc(0));
      return { localPath: `./${path}`, size, sha256 };
    }),
  );
});

test.each(['?include=Player', '?include=player,media', '?include=player&include=player'])(
  '%s gets 400 with the allowed values',
  async (query) => {
    expectFailure(await get(query), {
      status: 400,
      code: 'BAD_REQUEST',
      error: 'Bad Request',
      message: 'include must be "player" or omitted',
    });
  },
);
