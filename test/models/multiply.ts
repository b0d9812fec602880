import { createHash } from 'node:crypto';
import type { Database } from '../../shared/models/database.ts';

type Document = Record<string, unknown>;

/** How copies relate to their originals. */
interface Kinship {
  /** Ids that copies keep, such as that of the organization. */
  kept: ReadonlySet<string>;
  copies: number;
}

const isId = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|x[0-9a-f]{40,})$/;

/** Fields that are unique without being ids. */
const names = new Set([
  '_id',
  'slug',
  'email',
  'issuer',
  'learnerId',
  'pseudonym',
  'ltiUserId',
  'url',
  'resourceLinkId',
  'widgetId',
]);

/**
 * Copies every document of a database, so that queries have others to skip. Ids differ in each copy, and agree between
 * the documents of one copy.
 */
export async function multiply(db: Database, kinships: readonly Kinship[]): Promise<void> {
  const collections = (await db.connection.db?.collections()) ?? [];
  for (const collection of collections) {
    // A few keys at most; their numbers are unique.
    if (['ltiKeys', 'playerReleases'].includes(collection.collectionName)) continue;
    const originals = await collection.find<Document>({}).toArray();
    const copies = kinships.flatMap(({ kept, copies: count }, kinship) =>
      Array.from({ length: count }, (_, number) => {
        const copy = `${kinship}-${number}`;
        // Core widgets belong to no organization.
        const isNew = ({ _id, organizationId }: Document) =>
          !kept.has(String(_id)) && organizationId !== null;
        return originals.filter(isNew).map((original) => copyOf(original, { copy, kept, number }));
      }).flat(),
    );
    if (copies.length > 0) await collection.insertMany(copies, { ordered: false });
  }
}

function copyOf(
  value: Document,
  { copy, kept, number }: { copy: string; kept: ReadonlySet<string>; number: number },
): Document {
  const changed = (name: string, one: unknown): unknown => {
    if (typeof one === 'string' && !kept.has(one) && (isId.test(one) || names.has(name))) {
      return idOf(one, copy);
    }
    if (name === 'versionNumber') return Number(one) + number + 1;
    if (Array.isArray(one)) return one.map((element) => changed(name, element));
    if (one !== null && typeof one === 'object' && Object.getPrototypeOf(one) === Object.prototype) {
      return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, changed(key, inner)]));
    }
    return one;
  };
  const { _id, ...rest } = value;
  const id = typeof _id === 'string' ? { _id: changed('_id', _id) } : {};
  return { ...id, ...(changed('', rest) as Document) };
}

function idOf(text: string, copy: string): string {
  const hex = createHash('sha256').update(`${copy} ${text}`).digest('hex');
  return text.length === 36 ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5') : hex;
}
