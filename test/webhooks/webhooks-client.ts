import { expect } from 'vitest';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import type { Api } from '../support/use.ts';

/** A delivery as the API returns it. */
export interface Delivery {
  id: string;
  type: string;
  status: string;
  attempts: {
    at: string;
    milliseconds: number;
    status: number | null;
    error: string | null;
    response: string | null;
  }[];
}

/** Sends requests about an organization's webhooks. */
export class Webhooks {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor({ url, headers }: Pick<Api, 'url' | 'headers'>) {
    this.#url = `${url}/api/webhooks`;
    this.#headers = headers;
  }

  send(method: string, path = '', body?: unknown): Promise<Answer> {
    return ask(this.#url + path, {
      method,
      headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Creates a webhook; asserts 201. */
  async create(url: string, events: string[]): Promise<{ id: string; secret: string }> {
    return (await this.expect(201, 'POST', '', { url, events })) as { id: string; secret: string };
  }

  /** Sends a request and asserts its status; returns the body. */
  async expect(status: number, method: string, path = '', body?: unknown): Promise<unknown> {
    const answer = await this.send(method, path, body);
    const text = answer.body.toString();
    expect({ status: answer.status, text }).toEqual({ status, text });
    return text === '' ? null : jsonOf(answer);
  }

  async deliveries(id: string, query = ''): Promise<Delivery[]> {
    const page = (await this.expect(200, 'GET', `/${id}/deliveries${query}`)) as { deliveries: Delivery[] };
    return page.deliveries;
  }
}
