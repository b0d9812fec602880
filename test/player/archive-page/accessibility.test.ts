import { expect, test } from 'vitest';
import { faultsIn } from '../../support/axe.ts';
import { buildPackage, buildVersion } from '../../support/factories.ts';
import { useArchiveLab, ways } from './archive-lab.ts';

const lab = useArchiveLab();
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

test.each([
  ['light', 'en'],
  ['dark', 'en'],
  ['light', 'ar'],
] as const)(
  'axe-core finds no violation in index.html, %s, in %s, including its credits',
  async (colorScheme, language) => {
    const attribution = {
      text: 'A. Painter',
      url: 'https://example.org/a',
      portfolioUrl: 'https://example.org/b',
    };
    const { path } = await buildPackage({
      media: [{ bytes: Buffer.from(pixel, 'base64'), attribution }],
      lesson: { language },
    });
    const archive = await lab.unpack(await buildVersion(lab.harness, lab.organization, path));
    const context = await lab.newContext({ colorScheme });
    const { page } = await lab.open(archive.addresses[ways[0]], context);
    await page.locator('#lectern-credits summary').click();
    expect(await faultsIn(page)).toEqual([]);
  },
);
