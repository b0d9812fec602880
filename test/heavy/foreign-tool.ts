import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A third-party tool behind the interface of the tests. */
export interface ForeignTool {
  /** Where it takes dynamic registrations. */
  registrationUrl: string;
  /** Goes on with a registration until the tool is done, as a teacher would in a browser. */
  register(url: string): Promise<void>;
  /** Takes a launch's form as far as the tool's own page; rejects where the tool refuses it. */
  open(form: LaunchForm): Promise<void>;
  /** What it understood of the last launch. */
  launched(): LaunchFacts;
  /** Its answer to the last deep linking request: one link with a line item of 10 points. */
  chooseLink(title: string, custom: Record<string, string>): Promise<{ action: string; jwt: string }>;
  /** Sends a score out of 100 for the user of the last launch. */
  sendScore(scoreGiven: number): Promise<void>;
  /** The results it reads back of the last launch's line item, by user. */
  readResults(): Promise<Record<string, number>>;
  /** The labels of the line items it finds. */
  listLineItems(): Promise<string[]>;
  close(): Promise<void>;
}

export interface LaunchForm {
  action: string;
  fields: Record<string, string>;
  cookie: string;
}

export interface LaunchFacts {
  user: string;
  course: string;
  link: string | null;
  custom: Record<string, string>;
}

/** Listens on a free port of 127.0.0.1 and gives its address, before there is anything to answer with. */
export async function listen(handle: () => RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    handle()(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** The address and the token in a form that posts a deep linking response. */
export function readResponseForm(page: string): { action: string; jwt: string } {
  const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
  const [, jwt = ''] = /name="JWT"[^>]* value="([^"]+)"/.exec(page) ?? [];
  return { action, jwt };
}
