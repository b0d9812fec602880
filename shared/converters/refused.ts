import { SourceFault } from './source.ts';
import type { Source } from './source.ts';

const maxManifestBytes = 8 * 1024 ** 2;

/**
 * Refuses packages for learning platforms that Lectern did not make: their lessons are programs. Those that Lectern made
 * have the lesson package inside.
 *
 * @throws {SourceFault} with what to do instead
 */
export async function refusePrograms(source: Source): Promise<void> {
  const kind = await programIn(source);
  if (kind === null) return;
  throw new SourceFault(
    `${source.name}: is ${kind}, whose lessons are programs and not data, so Lectern cannot read them. ` +
      'Export the course from the tool that made it in a format that Lectern reads, or from Lectern again.',
  );
}

async function programIn(source: Source): Promise<string | null> {
  if (source.has('cmi5.xml')) return 'a cmi5 package';
  if (source.has('tincan.xml')) return 'an xAPI package (Tin Can)';
  if (!source.has('imsmanifest.xml')) return null;
  const manifest = (await source.bytes('imsmanifest.xml', maxManifestBytes)).toString('latin1');
  // UTF-16 has a zero beside each character.
  return /adlcp_|adlcp:|ADL SCORM/i.test(manifest.replaceAll('\0', '')) ? 'a SCORM package' : null;
}
