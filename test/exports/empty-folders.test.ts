import { expect, test } from 'vitest';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

test('an archive without media or widgets has empty folders for them, and a rebuild gives the same bytes', async () => {
  const noWidgets = { blocks: () => [{ type: 'Unknown', props: { id: 'a' } }] };
  const bare = await lab.download(await lab.publish(noWidgets));
  expect(bare.folders).toEqual(['media/', 'widgets/']);

  const version = await lab.build();
  const first = await lab.download(version);
  expect(first.folders).toEqual(['media/']);
  await lab.evict(version);
  expect((await lab.download(version)).bytes.equals(first.bytes)).toBe(true);
  await lab.downloadBoth(version);
  const again = await lab.downloadBoth(version, '?include=player');
  expect(again.archive.folders).toEqual(['media/']);

  const full = await lab.build(png(1));
  expect((await lab.download(full)).folders).toEqual([]);
});
