import { bytesOf } from '../../shared/storage/digest.ts';
import { ArchiveWriter } from '../../worker/exports/archive-writer.ts';
import { fileInMemory } from '../../worker/exports/generated-files.ts';
import { cartridgeLink, cartridgeManifest, linkPath } from '../../worker/exports/profiles/cartridge-xml.ts';
import type { CartridgeLink } from '../../worker/exports/profiles/cartridge-xml.ts';

/** The same for every cartridge, so that the same lessons give the same bytes. */
const modified = new Date('2000-01-01T00:00:00Z');

/** Returns a Common Cartridge with links to lessons; a few kilobytes for each. */
export async function orgCartridge(
  cartridge: Parameters<typeof cartridgeManifest>[0],
  links: readonly CartridgeLink[],
  publicUrl: string,
): Promise<AsyncIterable<Uint8Array>> {
  const chunks: Uint8Array[] = [];
  const sink = {
    write(written: readonly Uint8Array[]) {
      chunks.push(...written.map((chunk) => Buffer.from(chunk)));
      return Promise.resolve();
    },
  };
  const writer = new ArchiveWriter(sink, modified);
  const files = [
    fileInMemory('imsmanifest.xml', Buffer.from([...cartridgeManifest(cartridge, links)].join(''))),
    ...links.map((link) =>
      fileInMemory(linkPath(link), Buffer.from(cartridgeLink(link, publicUrl, cartridge.version))),
    ),
  ];
  for (const { path, digest, chunks: read } of files) await writer.add(path, digest, read());
  await writer.finish();
  return bytesOf(...chunks);
}
