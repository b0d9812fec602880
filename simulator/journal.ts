/** One message between the platform and a tool. */
export interface Message {
  at: Date;
  /** Such as "id_token" or "score". */
  kind: string;
  /** False: the platform refused it. */
  accepted: boolean;
  /** In one line, for people. */
  summary: string;
  /** Decoded: claims, parameters, a body. */
  content: unknown;
}

/** One HTTP request that reached the platform. */
export interface LoggedRequest {
  at: Date;
  method: string;
  path: string;
  /** Path and query. */
  url: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  /** Of the answer; null where the connection was dropped, or while there is none yet. */
  status: number | null;
}

export interface Journal {
  /** The newest messages, in order. */
  readonly messages: readonly Message[];
  /** The newest requests, in order of arrival. */
  readonly requests: readonly LoggedRequest[];
  tell(message: Omit<Message, 'at'>): void;
  addRequest(request: LoggedRequest): void;
}

const mostMessages = 500;
const mostRequests = 10_000;

export function createJournal(): Journal {
  const messages: Message[] = [];
  const requests: LoggedRequest[] = [];
  return {
    messages,
    requests,
    tell(message) {
      messages.push({ at: new Date(), ...message });
      if (messages.length > mostMessages) messages.shift();
    },
    addRequest(request) {
      requests.push(request);
      if (requests.length > mostRequests) requests.shift();
    },
  };
}
