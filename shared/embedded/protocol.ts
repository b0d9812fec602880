import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** What a client asks of the supervisor: servers that shall run as long as its connection is open. */
export const Request = z.object({ mongodb: z.boolean(), redis: z.boolean() });
export type Request = z.infer<typeof Request>;

const Server = z.object({ url: z.string(), pid: z.number() });

/** What the supervisor says: any number of `progress`, then one of the others. */
export const Reply = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), message: z.string() }),
  z.object({
    type: z.literal('ready'),
    supervisor: z.number(),
    mongodb: Server.optional(),
    redis: Server.optional(),
  }),
  z.object({ type: z.literal('failed'), message: z.string() }),
  /** The supervisor is ending; the client has to start another one when it is gone. */
  z.object({ type: z.literal('stopping') }),
]);
export type Reply = z.infer<typeof Reply>;

/** Writes one message as a line of JSON. A connection that is gone already loses it, and its owner knows. */
export function send(socket: Socket, message: Request | Reply): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Hands each message of a connection to `onMessage`. A line that is no such message ends the connection. */
export function receive<T>(socket: Socket, schema: z.ZodType<T>, onMessage: (message: T) => void): void {
  const lines = createInterface({ input: socket, crlfDelay: Infinity });
  // The reader emits the connection's errors once more; who owns the connection hears of its end.
  lines.on('error', () => undefined);
  lines.on('line', (line) => {
    let message: T;
    try {
      message = schema.parse(JSON.parse(line));
    } catch {
      socket.destroy();
      return;
    }
    onMessage(message);
  });
}
