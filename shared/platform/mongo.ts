import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import type { Connection } from 'mongoose';
import { LecternError, messageOf } from './errors.ts';
import { mayShowOptions, withoutCredentials } from './server-urls.ts';

/** How long a server may say nothing while an operation waits for it. */
const operationMilliseconds = 15_000;

/**
 * Connects to MongoDB, once and for all: later failures of the server fail single operations, within their deadline.
 *
 * @throws {LecternError} INTERNAL_ERROR that names the server (without credentials) and what to do.
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
    socketTimeoutMS: operationMilliseconds,
    writeConcern: { w: 'majority' },
  });
  try {
    return await connection.asPromise();
  } catch (error) {
    await connection.close();
    throw new LecternError('INTERNAL_ERROR', describeConnectError(uri, error), { cause: error });
  }
}

function describeConnectError(uri: string, error: unknown): string {
  if (isOptionError(error)) {
    const fault = mayShowOptions(uri)
      ? messageOf(error)
      : 'its options contain a secret, so the reason is not shown';
    return `The MongoDB driver rejects MONGODB_URI (${fault}). Correct it: its options follow the "?".`;
  }
  return `MongoDB at ${withoutCredentials(uri)} does not answer (${messageOf(error)}). Start it, or correct MONGODB_URI.`;
}

/** Whether the driver rejected the connection string or its options, before it contacted a server. */
function isOptionError(error: unknown): boolean {
  const { MongoAPIError, MongoMissingDependencyError, MongoParseError } = mongoose.mongo;
  return [MongoAPIError, MongoMissingDependencyError, MongoParseError].some((type) => error instanceof type);
}

/** Whether MongoDB answers, and its version. */
export async function pingMongo(connection: Connection): Promise<string> {
  if (connection.db === undefined) throw new Error('not connected');
  await connection.db.admin().ping();
  const info = (await connection.db.admin().serverInfo()) as { version: string };
  return info.version;
}

/** Options of every schema: what is stored is what was given, unknown fields are a programming error. */
export const schemaOptions = {
  autoIndex: false,
  minimize: false,
  strict: 'throw',
  versionKey: false,
} as const;

/** The `_id` of documents that Lectern names itself. */
export const uuidField = { type: String, required: true, default: () => randomUUID() as string } as const;

/** Whether a write was refused because a unique index holds the value already. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 11_000;
}

/** Runs an upsert, and once more when another one inserted the same at the same time: the second run updates. */
export async function upsertSafely<T>(upsert: () => Promise<T>): Promise<T> {
  try {
    return await upsert();
  } catch (error) {
    if (isDuplicate(error)) return upsert();
    throw error;
  }
}
