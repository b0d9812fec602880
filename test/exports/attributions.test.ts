import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useExportLab } from './lab.ts';
import { changeJson, picture } from '../packages/import-support.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { temporaryFolder } from '../support/folders.ts';

const lab = useExportLab({}, { worker: true });

const credit = (text: string) => ({ text, url: `https://example.org/${text}`, portfolioUrl: '' });
const first = '11111111-1111-4111-8111-111111111111';
const second = '22222222-2222-4222-8222-222222222222';

test('exports keep every attribution of a media file, in the order of the package', async () => {
  const { path } = await buildPackage({
    media: [
      { id: first, ...picture(1) },
      { id: second, ...picture(2) },
    ],
  });
  // Not sorted by text or id.
  const attributions = [
    { mediaId: first, ...credit('photographer') },
    { mediaId: second, ...credit('museum') },
    { mediaId: first, ...credit('archive') },
    { mediaId: first, ...credit('photographer') },
  ];
  await changeJson(path, 'manifest.json', (manifest) => Object.assign(manifest, { attributions }));
  const kept = [...attributions.filter(({ mediaId }) => mediaId === first), attributions[1]];
  const version = await buildVersion(lab.harness, lab.organization, path);
  const { archive, listed } = await lab.downloadBoth(version);
  expect(archive.manifest.attributions).toEqual(kept);
  expect(listed.attributions).toEqual(kept);

  const zip = join(await temporaryFolder(), 'again.zip');
  await writeFile(zip, archive.bytes);
  const again = await buildVersion(lab.harness, lab.organization, zip);
  expect((await lab.downloadBoth(again)).archive.manifest.attributions).toEqual(kept);

  const player = await lab.download(version, '?include=player');
  expect(String(player.files.get('index.html'))).toContain('archive');
});
