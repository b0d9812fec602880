import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** A client's request for servers, which run while its connection is open. */
export const Request = z.object({ mongodb: z.boolean(), redis: z.boolean() });
export type Request = z.infer<typeof Request>;

const Server = z.object({ url: z.string(), pid: z.number() });

/** The supervisor's messages: any number of `progress`, then one of the others. */
export const Reply = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), message: z.string() }),
  z.object({
    type: z.literal('ready'),
    supervisor: z.number(),
    mongodb: Server.optional(),
    redis: Server.optional(),
  }),
  z.object({ type: z.literal('failed'), message: z.string() }),
  /** The supervisor is stopping; the client must start another one afterward. */
  z.object({ type: z.literal('stopping') }),
]);
export type Reply = z.infer<typeof Reply>;

/** Writes a message as a line of JSON. A closed connection loses it, and its owner handles the close. */
export function send(socket: Socket, message: Request | Reply): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Passes each message of a connection to `onMessage`. An invalid line closes the connection. */
export function receive<T>(socket: Socket, schema: z.ZodType<T>, onMessage: (message: T) => void): void {
  const lines = createInterface({ input: socket, crlfDelay: Infinity });
  // The reader repeats the connection's errors, which the owner of the connection handles.
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
