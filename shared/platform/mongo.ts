import { randomUUID } from 'node:crypto';
import { ConnectionString } from 'mongodb-connection-string-url';
import mongoose from 'mongoose';
import type { ClientSession, Connection } from 'mongoose';
import { LecternError, messageOf } from './errors.ts';
import { mayShowOptions, withoutCredentials } from './server-urls.ts';

/** The timeout of an operation without any response from the server. */
const operationTimeoutMs = 15_000;

/**
 * Connects to MongoDB, which must be a replica set (or a sharded cluster of them), because a standalone server has no
 * transactions. The driver reconnects by itself; while the server is unavailable, operations fail within their timeout.
 *
 * @throws {LecternError} INTERNAL_ERROR that names the server (without credentials) and the remedy.
 */
export async function connectMongo(uri: string): Promise<Connection> {
  const connection = mongoose.createConnection(uri, {
    appName: 'lectern',
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
    serverSelectionTimeoutMS: 5_000,
    connectTimeoutMS: 5_000,
    waitQueueTimeoutMS: 5_000,
    socketTimeoutMS: operationTimeoutMs,
    writeConcern: { w: 'majority' },
    // Only drivers have written the texts, and the check takes most of the time for reading a large record.
    enableUtf8Validation: false,
  });
  try {
    await connection.asPromise();
    const { setName, msg } = (await connection.db?.admin().command({ hello: 1 })) ?? {};
    if (setName !== undefined || msg === 'isdbgrid') return connection;
    throw new LecternError('INTERNAL_ERROR', describeStandalone(uri));
  } catch (error) {
    await connection.close();
    if (error instanceof LecternError) throw error;
    throw new LecternError('INTERNAL_ERROR', describeConnectError(uri, error), { cause: error });
  }
}

/** See https://www.mongodb.com/docs/manual/tutorial/convert-standalone-to-replica-set/. */
function describeStandalone(uri: string): string {
  return [
    `MongoDB at ${withoutCredentials(uri)} is a standalone server; Lectern needs a replica set, of which one member is enough.`,
    'Set replication.replSetName: lectern in mongod.conf, and security.keyFile if authorization is on; restart mongod;',
    `then run in mongosh: ${initiation(uri)}`,
  ].join(' ');
}

/** Names the host of the URI: by default, a member has the name of its machine, which others may not know. */
function initiation(uri: string): string {
  const [host = ''] = new ConnectionString(uri).hosts;
  const member = /:\d+$/.test(host) ? host : `${host}:27017`;
  return `rs.initiate({ _id: 'lectern', members: [{ _id: 0, host: '${member}' }] })`;
}

function describeConnectError(uri: string, error: unknown): string {
  if (isOptionError(error)) {
    const fault = mayShowOptions(uri)
      ? messageOf(error)
      : 'its options contain a secret, so the reason is not shown';
    return `The MongoDB driver rejects MONGODB_URI (${fault}). Correct it: its options follow the "?".`;
  }
  if (awaitsInitiation(error)) {
    return `MongoDB at ${withoutCredentials(uri)} is a replica set that was never initiated. Run in mongosh: ${initiation(uri)}`;
  }
  return `MongoDB at ${withoutCredentials(uri)} does not respond (${messageOf(error)}). Start it, or correct MONGODB_URI.`;
}

/** Returns whether the driver rejected the connection string or its options before it contacted a server. */
function isOptionError(error: unknown): boolean {
  const { MongoAPIError, MongoMissingDependencyError, MongoParseError } = mongoose.mongo;
  return [MongoAPIError, MongoMissingDependencyError, MongoParseError].some((type) => error instanceof type);
}

/** Returns whether a server has the name of a replica set, but no configuration yet. */
function awaitsInitiation(error: unknown): boolean {
  const { reason } = error as { reason?: Partial<mongoose.mongo.TopologyDescription> };
  return [...(reason?.servers?.values() ?? [])].some(({ type }) => type === 'RSGhost');
}

/** An erasure removes what a transaction stores: its second pass comes later than this. */
const timeoutMS = 10_000;

/**
 * Makes changes in one transaction. MongoDB repeats `change` after a conflict with another one, so it must read again
 * what it depends on.
 *
 * @param change passes the session to each operation, one after the other.
 * @throws {Error} if the changes take more than ten seconds.
 */
export async function inTransaction<T>(
  connection: Connection,
  change: (session: ClientSession) => Promise<T>,
): Promise<T> {
  return connection
    .getClient()
    .withSession((session) => session.withTransaction(() => change(session), { timeoutMS }));
}

/** Returns MongoDB's version. @throws if it does not respond. */
export async function pingMongo(connection: Connection): Promise<string> {
  if (connection.db === undefined) throw new Error('not connected');
  await connection.db.admin().ping();
  const info = (await connection.db.admin().serverInfo()) as { version: string };
  return info.version;
}

/** Options of every schema: Mongoose stores values unchanged and throws on unknown fields. */
export const schemaOptions = {
  autoIndex: false,
  minimize: false,
  strict: 'throw',
  versionKey: false,
} as const;

/** The `_id` of documents that Lectern names itself. */
export const uuidField = { type: String, required: true, default: () => randomUUID() as string } as const;

/** Returns whether MongoDB or its driver reported an error. */
export function isDatabaseError(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoError;
}

/** Returns whether a write failed because a unique index already contains the value. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 11_000;
}

/** Returns whether an insert of many documents failed only for those that existed; all others are stored. */
export function isDuplicatesOnly(error: unknown): boolean {
  const { writeErrors = [] } = error as { writeErrors?: { code: number }[] };
  return isDuplicate(error) && writeErrors.every(({ code }) => code === 11_000);
}

/** Runs an upsert; repeats it if a concurrent one inserted the document first. The second run updates. */
export async function upsertSafely<T>(upsert: () => Promise<T>): Promise<T> {
  try {
    return await upsert();
  } catch (error) {
    if (isDuplicate(error)) return upsert();
    throw error;
  }
}
